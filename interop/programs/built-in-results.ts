import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const NUMBERS = Array.from({ length: 20 }, (_, at) => `line ${at + 1}${at % 9 === 0 ? ' x' : ''}\n`).join('');
const FILES = {
  'a.txt': 'one\ntwo\nthree\n',
  'numbers.txt': NUMBERS,
  'crlf.md': 'a\r\nb\r\nc\r\n',
  'end.md': 'a\nb',
};

/** Calls with the names of files, which the program puts into its directory. */
const CALLS: readonly [tool: string, file: string, input: object][] = [
  ['Read', 'a.txt', {}],
  ['Read', 'numbers.txt', { offset: 3, limit: 2 }],
  ['Read', 'picture.png', {}],
  ['Read', 'empty.txt', {}],
  ['Edit', 'a.txt', { old_string: 'two', new_string: 'TWO\nand a half' }],
  ['Read', 'numbers.txt', {}],
  ['Edit', 'numbers.txt', { old_string: 'x', new_string: 'y', replace_all: true }],
  ['Read', 'crlf.md', {}],
  ['Edit', 'crlf.md', { old_string: 'b', new_string: 'B' }],
  ['Read', 'end.md', {}],
  ['Edit', 'end.md', { old_string: 'b', new_string: 'B' }],
  ['Write', 'new.txt', { content: 'hello\nworld\n' }],
  ['Write', 'new.txt', { content: 'hello\nthere\n' }],
  ['Write', 'new.txt', { content: 'hello\nthere\n' }],
  ['Write', 'empty.txt', { content: 'full\n' }],
  ['Read', '', { file_path: 'new.txt' }],
  ['Edit', '', { file_path: './new.txt', old_string: 'hello', new_string: 'Hello' }],
  ['Write', '', { file_path: 'more/new.txt', content: 'hello\n' }],
  ['Glob', '', { pattern: '*.png' }],
  ['Glob', '', { pattern: '*.zip' }],
  ['Grep', '', { pattern: 'hello' }],
  ['Grep', '', { pattern: 'hello', output_mode: 'content' }],
  ['Grep', '', { pattern: 'TWO', output_mode: 'count' }],
  ['Grep', '', { pattern: 'nowhere' }],
  ['Grep', '', { pattern: 'nowhere', output_mode: 'content' }],
  ['Grep', '', { pattern: 'nowhere', output_mode: 'count' }],
  ['Bash', '', { command: 'echo out; echo err >&2' }],
  ['Bash', '', { command: 'true' }],
  ['Bash', '', { command: 'printf "a\\n\\n"' }],
];

export const script = ({ messages }: MessagesRequest, n: number) => {
  const [name, file, input] = CALLS[n - 1] ?? [];
  if (name === undefined) return text('Done.');
  // The prompt says where the program has put the files.
  const [, directory = ''] = /Use the tools in ([^"\\]+)/.exec(JSON.stringify(messages)) ?? [];
  return toolUse(name, { ...(file && { file_path: join(directory, file) }), ...input });
};

/** The texts of built-in tools for the model, and their data in hooks and messages. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(sandbox.cwd, name), content);
  await writeFile(join(sandbox.cwd, 'empty.txt'), '');
  await writeFile(join(sandbox.cwd, 'picture.png'), Buffer.from(PNG, 'base64'));
  const hooked: unknown[] = [];
  const results: unknown[] = [];
  const query = sdk.query({
    prompt: `Use the tools in ${sandbox.cwd}`,
    options: {
      ...options(sandbox),
      tools: ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write'],
      canUseTool: async (_name, input) => ({ behavior: 'allow', updatedInput: input }),
      hooks: {
        PreToolUse: [
          {
            hooks: [
              async (input) => {
                if (input.hook_event_name !== 'PreToolUse') return {};
                const { file_path, replace_all } = input.tool_input as Record<string, unknown>;
                hooked.push({ file_path, replace_all });
                return {};
              },
            ],
          },
        ],
        PostToolUse: [
          {
            hooks: [
              async (input) => {
                if (input.hook_event_name !== 'PostToolUse') return {};
                const { tool_name, tool_response, duration_ms } = input;
                hooked.push({ tool_name, tool_response, isTimed: typeof duration_ms === 'number' });
                return {};
              },
            ],
          },
        ],
      },
    },
  });
  for await (const message of query) {
    if (message.type === 'user') results.push(message.tool_use_result);
  }
  const texts = sandbox.api.requests.flatMap((request) => toolResults(request).slice(-1));
  return { hooked, results, texts };
}
