import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** Each tries to print a file that a rule denies; the last one prints another file. */
const COMMANDS = [
  'cat private/key',
  'cd private && cat key',
  'cd open && cat ../private/key',
  'cd nowhere; cat private/key',
  'tail -n1 private/*',
  'D=private; cat $D/key',
  'grep -r KEY private',
  'cd private && cat < key',
  'cd open && cat key',
];

export const script = [
  ...COMMANDS.map((command) => toolUse('Bash', { command, description: 'A command' })),
  text('Done.'),
];

/** Rules for paths also apply to shell commands, whatever other rule allows the command. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  write(join(sandbox.home, '.claude/settings.json'), JSON.stringify({ permissions: { allow: ['Bash'] } }));
  const deny = ['Read(./private/**)'];
  write(join(sandbox.cwd, '.claude/settings.json'), JSON.stringify({ permissions: { deny } }));
  write(join(sandbox.cwd, 'private/key'), 'KEY of private');
  write(join(sandbox.cwd, 'open/key'), 'KEY of open');
  const { settingSources: _, ...rest } = options(sandbox);
  await transcribe(sdk.query({ prompt: 'Try the commands.', options: { ...rest, tools: ['Bash'] } }));
  const last = sandbox.api.requests.flatMap(toolResults).slice(-COMMANDS.length);
  return last.map(({ isError, content }, index) => {
    const shown = /KEY of \w+/.exec(JSON.stringify(content))?.[0];
    return { command: COMMANDS[index], isError, shown };
  });
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
