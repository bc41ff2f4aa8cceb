// Let the agent change a file, and undo the change.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Options, query, type SDKUserMessage } from 'toolplane';
import { openLoopbackModel } from './loopback-model.ts';

const cwd = await mkdtemp(join(tmpdir(), 'toolplane-example-'));
const plan = join(cwd, 'plan.txt');
await writeFile(plan, 'Buy milk\n');

/** A model that reads the file and then replaces it. */
const replies = [
  { call: 'Read', input: { file_path: plan } },
  { call: 'Write', input: { file_path: plan, content: 'Buy milk\nBuy tea\n' } },
  { text: 'Done.' },
];
await using endpoint = await openLoopbackModel(() => replies.shift() ?? { text: 'Done.' });
const options: Options = {
  model: 'openai:writer',
  env: { ...process.env, TOOLPLANE_HOME: join(cwd, 'home'), OPENAI_BASE_URL: endpoint.baseUrl },
  cwd,
  tools: ['Read', 'Write'],
  permissionMode: 'acceptEdits',
};

// #region rewind
const uuid = randomUUID();
const rewound = Promise.withResolvers<void>();

async function* prompts(): AsyncGenerator<SDKUserMessage> {
  const message = { role: 'user' as const, content: 'Add tea to plan.txt.' };
  yield { type: 'user', message, parent_tool_use_id: null, uuid };
  await rewound.promise; // the query stays open until the files are rewound
}

const conversation = query({ prompt: prompts(), options: { ...options, enableFileCheckpointing: true } });
for await (const message of conversation) {
  if (message.type !== 'result') continue;
  const preview = await conversation.rewindFiles(uuid, { dryRun: true });
  console.log(`${preview.filesChanged?.length} file, ${preview.deletions} line less`);
  await conversation.rewindFiles(uuid);
  rewound.resolve();
}
// #endregion

const text = await readFile(plan, 'utf8');
console.log({ text });
await rm(cwd, { recursive: true });
assert.equal(text, 'Buy milk\n');
