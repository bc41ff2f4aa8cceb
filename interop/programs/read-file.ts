import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [text('Hello.')];

/** `readFile()`: what the program may read, and in which shape. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const outside = join(sandbox.home, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'o.txt'), 'outside\n');
  await symlink(join(outside, 'o.txt'), join(sandbox.cwd, 'link.txt'));
  await writeFile(join(sandbox.cwd, 'text.txt'), 'Grüße\n');
  await writeFile(join(sandbox.cwd, 'secret.txt'), 'secret\n');
  await writeFile(join(sandbox.cwd, 'binary'), Buffer.from([0, 255, 254, 1]));
  await writeFile(join(sandbox.cwd, 'big.txt'), 'x'.repeat(1_100_000));
  const conversation = converse();
  const rules = { allowedTools: ['Read'], disallowedTools: ['Read(secret.txt)'] };
  const query = sdk.query({ prompt: conversation, options: { ...options(sandbox), ...rules } });
  conversation.say('Hi.');
  const seen: unknown[] = [];
  const paths = ['text.txt', join(sandbox.cwd, 'text.txt'), 'binary', 'secret.txt', './secret.txt'];
  const unreadable = ['link.txt', join(outside, 'o.txt'), '../home/outside/o.txt', 'missing.txt', '.', ''];
  for await (const message of query) {
    if (message.type !== 'result') continue;
    for (const path of [...paths, ...unreadable]) seen.push([path, await query.readFile(path)]);
    seen.push(await query.readFile('text.txt', { encoding: 'base64', maxBytes: 4 }));
    seen.push(await query.readFile('text.txt', { maxBytes: 3 }));
    seen.push(await query.readFile('text.txt', { maxBytes: 0 }));
    const big = await query.readFile('big.txt');
    seen.push({ ...big, contents: big?.contents.length });
    conversation.end();
  }
  return seen;
}
