import type { Configuration } from '../../../config/configuration.ts';
import { rulingSource } from '../../../config/merge/eligibility.ts';

/** What is said where no server is listed: that there is none, or who sees to it that none counts. */
export function emptyText({ sources }: Pick<Configuration, 'sources'>): string {
  const ruling = rulingSource(sources);
  if (!ruling) {
    return 'No servers are configured. Add one: toolplane mcp add <name> -- <command>, or <name> <url>';
  }
  const says = ruling.state === 'unusable' ? 'cannot be read' : 'names none';
  return `No server counts: on this machine only those of ${ruling.label} do, and it ${says}. Ask those who run the machine.`;
}
