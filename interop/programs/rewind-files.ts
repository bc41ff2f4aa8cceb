import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Query } from '@anthropic-ai/claude-agent-sdk';
import { text, together, toolUse } from '../../test/support/model-api/model-reply.ts';
import { describeError } from '../observe.ts';
import { options, type Sandbox, type Sdk, type UserMessage } from '../program.ts';

export const script = [
  together(
    toolUse('Write', { file_path: 'a.txt', content: 'one\ntwo\n' }),
    toolUse('Write', { file_path: 'b.txt', content: 'bee\n' }),
  ),
  text('Written.'),
  toolUse('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'three\nfour' }),
  text('Edited.'),
  text('Nothing to do.'),
];

/** Three turns that change files, and rewinding the files to each of them. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const ids = [randomUUID(), randomUUID(), randomUUID()] as const;
  const gates = ids.map(() => Promise.withResolvers<void>());
  const done = Promise.withResolvers<void>();
  async function* prompts(): AsyncGenerator<UserMessage> {
    for (const [at, uuid] of ids.entries()) {
      await gates[at]?.promise;
      const message = { role: 'user' as const, content: `Prompt ${at}` };
      yield { type: 'user', message, parent_tool_use_id: null, session_id: '', uuid };
    }
    await done.promise;
  }
  const allowed = {
    tools: ['Write', 'Edit'],
    allowedTools: ['Write', 'Edit'],
    enableFileCheckpointing: true,
  };
  const query = sdk.query({ prompt: prompts(), options: { ...options(sandbox), ...allowed } });
  gates[0]?.resolve();
  let turns = 0;
  let seen: unknown;
  for await (const message of query) {
    if (message.type !== 'result') continue;
    turns += 1;
    gates[turns]?.resolve();
    if (turns < ids.length) continue;
    seen = await rewind(query, ids, sandbox.cwd);
    done.resolve();
  }
  return seen;
}

async function rewind(query: Query, ids: readonly string[], cwd: string): Promise<unknown> {
  const previews = await Promise.all(ids.map((id) => query.rewindFiles(id, { dryRun: true })));
  const unknown = await query.rewindFiles(randomUUID(), { dryRun: true });
  const refused = await query.rewindFiles(randomUUID()).catch(describeError);
  await writeFile(join(cwd, 'a.txt'), 'by hand\n');
  const afterEdit = await query.rewindFiles(ids[2] as string, { dryRun: true });
  const states: unknown[] = [];
  for (const id of [ids[2], ids[1], ids[0], ids[2]]) {
    const rewound = await query.rewindFiles(id as string);
    const files = (await readdir(cwd)).filter((name) => name.endsWith('.txt'));
    const texts = await Promise.all(files.map((name) => readFile(join(cwd, name), 'utf8')));
    states.push({ rewound, files, texts });
  }
  return { previews, unknown, refused, afterEdit, states };
}
