import { nearest } from '../../base/text/nearest.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import { jsonText, lines } from '../host/lines.ts';
import type { NamedServers } from '../host/named-servers.ts';
import { NotUnderstood } from '../host/not-understood.ts';
import { type Connected, needServers, tellFaults, tellWarnings, withHost } from '../host/with-host.ts';
import { filledText, promptTable } from './prompt-table.ts';

export type PromptsRequest = NamedServers & {
  readonly format: 'text' | 'json';
} & (
    | { readonly action: 'list' }
    | {
        readonly action: 'get';
        readonly server: string;
        readonly prompt: string;
        readonly args: Readonly<Record<string, string>>;
      }
  );

/** `toolplane prompts`; gives its exit code. */
export function startPrompts(request: PromptsRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return withHost(request, env, async (connected) => {
    if (request.action === 'get') return get(connected, request);
    const { host, output, signal } = connected;
    const known = connected.warnings.length;
    const prompts = await host.listPrompts(undefined, { signal });
    const text = () => lines(promptTable(prompts, output.columns));
    await output.print(request.format === 'json' ? jsonText({ prompts }) : text());
    tellWarnings(connected, known);
    return tellFaults(connected);
  });
}

async function get(
  connected: Connected,
  { server, prompt, args, format }: Extract<PromptsRequest, { action: 'get' }>,
): Promise<number> {
  needServers(connected);
  const { host, output, spinner, signal } = connected;
  spinner.show(() => `${server} ${prompt}`);
  const filled = await host.getPrompt(server, prompt, args, { signal }).catch(refused);
  spinner.stop();
  await output.print(format === 'json' ? jsonText(filled) : filledText(filled));
  // What it lists is known by now.
  const listed = (await host.listPrompts(server, { signal })).find(({ name }) => name === prompt);
  const known = listed?.arguments.map(({ name }) => name) ?? [];
  for (const name of Object.keys(args).filter((it) => !known.includes(it))) {
    output.tell(`${server} ${prompt}: ${sayUnlisted(name, known)}`);
  }
  return 0;
}

function sayUnlisted(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const takes = known.length === 0 ? 'nothing' : known.join(', ');
  const hint = meant === undefined ? ` (it takes ${takes})` : `; did you mean "${meant}"?`;
  return `the prompt declares no "${name}"${hint}`;
}

/** A prompt that is not there, or lacks an argument, was not asked for: that is for who typed it to mend. */
function refused(cause: unknown): never {
  if (cause instanceof HostError && cause.code === 'not-offered') throw new NotUnderstood(cause.message);
  throw cause;
}
