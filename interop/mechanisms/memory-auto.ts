import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** The folder that the prompt names. */
const folderIn = (request: MessagesRequest): string =>
  /Notes: ([^"\\]+)/.exec(JSON.stringify(request.messages))?.[1] ?? '';

export const script = (request: MessagesRequest) => {
  const folder = folderIn(request);
  const calls = request.messages.filter(({ role }) => role === 'assistant').length;
  if (folder === '' || calls > 1) return text('Done.');
  return calls === 0
    ? toolUse('Read', { file_path: join(folder, 'topic.md') })
    : toolUse('Write', { file_path: join(folder, 'new.md'), content: 'A new note.' });
};

/** `init` names the auto-memory folder; its index is sent, and reading and writing in it is never asked. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  let folder = '';
  const given = { ...options(sandbox), tools: ['Read', 'Write'] };
  await transcribe(sdk.query({ prompt: 'Go.', options: given }), (message) => {
    if (message.type !== 'system' || message.subtype !== 'init') return;
    folder = (message as unknown as { memory_paths: { auto: string } }).memory_paths.auto;
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'MEMORY.md'), '- topic.md: the topic');
  writeFileSync(join(folder, 'topic.md'), 'The topic.');
  const asked: string[] = [];
  const canUseTool = async (name: string) => {
    asked.push(name);
    return { behavior: 'deny' as const, message: 'no' };
  };
  const sees = () => JSON.stringify(sandbox.api.requests.at(-1)?.messages).includes('the topic');
  await transcribe(sdk.query({ prompt: 'Go.', options: given }));
  const seen = [sees()];
  await transcribe(sdk.query({ prompt: `Notes: ${folder}`, options: { ...given, canUseTool } }));
  const errors = sandbox.api.requests.flatMap((request) =>
    toolResults(request).map(({ isError }) => isError),
  );
  const env = { ...given.env, CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' };
  await transcribe(sdk.query({ prompt: 'Go.', options: { ...given, env } }));
  seen.push(sees());
  return { asked, errors, seen, written: readFileSync(join(folder, 'new.md'), 'utf8') };
}
