import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const bash = (command: string) => toolUse('Bash', { command, description: 'A command' });

export const script = [
  bash('touch denied'),
  bash('cat .env'),
  bash('echo hi > locked/new'),
  bash('printenv NAME || echo none'),
  text('Done.'),
];

/** A project denies commands and files although the program allows all commands; it also has a hook and a variable. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  for (const name of ['.claude', 'locked']) mkdirSync(join(sandbox.cwd, name));
  writeFileSync(join(sandbox.cwd, '.env'), 'KEY=secret');
  const value = {
    permissions: { deny: ['Bash(touch *)', 'Read(./.env)', 'Edit(locked/**)'] },
    hooks: {
      PostToolUse: [{ hooks: [{ type: 'command', command: 'echo ran > "$CLAUDE_PROJECT_DIR"/hook' }] }],
    },
    env: { NAME: 'value' },
  };
  writeFileSync(join(sandbox.cwd, '.claude', 'settings.json'), JSON.stringify(value));
  const { settingSources: _, ...rest } = options(sandbox);
  const { messages } = await transcribe(
    sdk.query({ prompt: 'Try.', options: { ...rest, tools: ['Bash'], allowedTools: ['Bash'] } }),
  );
  const results = sandbox.api.requests.flatMap(toolResults);
  const [denied, variable] = [results.slice(0, 3), results[3]];
  return {
    denied,
    ranUnapproved: { variable: variable?.content, isHook: existsSync(join(sandbox.cwd, 'hook')) },
    result: messages.at(-1),
  };
}
