import { shellWords } from '../../base/text/display-text.ts';

/** What a person types to accept a tool as it is now; a name that cannot be typed stands for all of its server. */
export function acceptCommand({ server, tool }: { readonly server: string; readonly tool: string }): string {
  const words = /\p{C}/u.test(tool) ? [server] : [server, tool];
  return `toolplane tools accept ${shellWords(...words)}`;
}
