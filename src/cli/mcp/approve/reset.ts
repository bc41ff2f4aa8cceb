import { existsSync } from 'node:fs';
import { forgetChoices } from '../../../config/approval/approval-store.ts';
import { repositoryRoot } from '../../../config/sources/config-paths.ts';
import { line } from '../../chat/piece.ts';
import { inSession } from '../session.ts';
import type { McpFormat } from '../sub-command.ts';

/** `toolplane mcp reset-project-choices`; gives its exit code. */
export function startReset(format: McpFormat, env: NodeJS.ProcessEnv): Promise<number> {
  return inSession(format, env, async ({ world, answer }) => {
    const directory = repositoryRoot(world.cwd, existsSync) ?? world.cwd;
    const forgotten = forgetChoices(world.home, directory);
    const count = `${forgotten} ${forgotten === 1 ? 'choice' : 'choices'}`;
    await answer({
      document: { directory, forgotten },
      pieces: [
        line(
          forgotten === 0
            ? `there were no choices about ${directory}`
            : `forgot ${count} about ${directory}; what it brings along waits for approval again`,
        ),
      ],
    });
    return 0;
  });
}
