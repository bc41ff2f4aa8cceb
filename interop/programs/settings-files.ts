import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const bash = (command: string) => toolUse('Bash', { command, description: 'A command' });

export const script = [
  bash('mkdir -v allowed-by-user'),
  bash('printenv GREETING'),
  bash('rmdir allowed-by-user'),
  bash('touch allowed-by-project'),
  bash('mkdir -v secret'),
  text('Done.'),
];

/** Rules, variables and hooks of the settings files; without `settingSources` all files are read. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  write(join(sandbox.home, '.claude/settings.json'), {
    permissions: { allow: ['Bash(mkdir *)', 'Bash(rmdir *)', 'Bash(printenv *)'] },
    env: { GREETING: 'hello' },
    hooks: {
      PreToolUse: [
        {
          matcher: 'Bash',
          hooks: [
            {
              type: 'command',
              command: 'if grep -q secret; then echo "no secrets in $CLAUDE_PROJECT_DIR" >&2; exit 2; fi',
            },
          ],
        },
      ],
    },
    outputStyle: 'default',
  });
  // The folder is not trusted, so its allow rules do not count.
  write(join(sandbox.cwd, '.claude/settings.json'), { permissions: { allow: ['Bash(touch *)'] } });
  write(join(sandbox.cwd, '.claude/settings.local.json'), { permissions: { deny: ['Bash(rmdir *)'] } });
  const { settingSources: _, ...rest } = options(sandbox);
  const { messages } = await transcribe(
    sdk.query({ prompt: 'Try the commands.', options: { ...rest, tools: ['Bash'] } }),
  );
  const made = ['allowed-by-user', 'allowed-by-project', 'secret'];
  return {
    made: made.filter((name) => existsSync(join(sandbox.cwd, name))),
    results: sandbox.api.requests.flatMap(toolResults),
    result: messages.at(-1),
  };
}

function write(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}
