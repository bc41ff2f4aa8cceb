import { execFile } from 'node:child_process';
import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTranscript } from '../../../src/agent/transcript/read-transcript.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';
import { conversations, replied, said } from '../loop/conversations.ts';
import { bodies, CWD, HEADER, NOON, options, SESSION, temporaryRoot } from './sessions.ts';

describe('transcript', () => {
  const contents = async ({ path }: Transcript) => readTranscript(await readFile(path, 'utf8'));

  test('writes a header and one line per entry with its parent', async () => {
    const { given } = options(await temporaryRoot());
    await using transcript = new Transcript(given);
    await transcript.append([{ type: 'user', uuid: 'u1', content: [{ type: 'text', text: 'a\nb' }] }]);
    await transcript.append([{ type: 'meta', title: 'T', uuid: 'm1' }]);
    const usage = { input_tokens: 1, output_tokens: 2 };
    await transcript.append([{ type: 'assistant', uuid: 'u2', content: [], model: 'm', usage }]);
    const lines = (await readFile(transcript.path, 'utf8')).trimEnd().split('\n');
    const link = { timestamp: NOON, sessionId: SESSION };
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      HEADER,
      { type: 'user', uuid: 'u1', parentUuid: null, ...link, content: [{ type: 'text', text: 'a\nb' }] },
      { type: 'meta', uuid: 'm1', parentUuid: 'u1', ...link, title: 'T' },
      { type: 'assistant', uuid: 'u2', parentUuid: 'u1', ...link, content: [], model: 'm', usage },
    ]);
  });

  test('only the owner can read the file', async () => {
    const root = await temporaryRoot();
    await using transcript = new Transcript(options(join(root, 'home')).given);
    await transcript.append(bodies([said('secret')]));
    const mode = async (path: string) => (await stat(path)).mode & 0o777;
    expect(await mode(transcript.path)).toBe(0o600);
    expect(await mode(dirname(transcript.path))).toBe(0o700);
    expect(await mode(join(root, 'home'))).toBe(0o700);
  });

  test('a session without messages leaves no file', async () => {
    const root = await temporaryRoot();
    await using transcript = new Transcript(options(root).given);
    await transcript.append([]);
    expect(await readdir(root)).toEqual([]);
  });

  test('writes concurrent appends in order', async () => {
    await using transcript = new Transcript(options(await temporaryRoot()).given);
    const messages = Array.from({ length: 40 }, (_, n) => (n % 2 ? replied(`${n}`) : said(`${n}`)));
    await Promise.all(messages.map((message) => transcript.append(bodies([message]))));
    expect(await contents(transcript)).toMatchObject({ messages, diagnostics: [] });
  });

  test('closing waits for pending appends', async () => {
    const transcript = new Transcript(options(await temporaryRoot()).given);
    void transcript.append(bodies([said('a')]));
    await transcript[Symbol.asyncDispose]();
    expect((await contents(transcript)).messages).toEqual([said('a')]);
    await transcript.append(bodies([said('too late')]));
    expect((await contents(transcript)).messages).toEqual([said('a')]);
  });

  test('a resumed session appends to the same file, also after a truncated line', async () => {
    const root = await temporaryRoot();
    const first = new Transcript(options(root).given);
    await first.append(bodies([said('a'), replied('b')]));
    await first[Symbol.asyncDispose]();
    await appendFile(first.path, '{"type":"user","uuid":"torn');
    const { lastUuid } = await contents(first);
    await using second = new Transcript(options(root, { after: lastUuid }).given);
    await second.append(bodies([said('c')]));
    const read = await contents(second);
    expect(read.messages).toEqual([said('a'), replied('b'), said('c')]);
    expect(read.diagnostics.map(({ fault }) => fault)).toEqual(['invalid-line']);
  });

  test('reports an unwritable folder once and continues', async () => {
    const root = join(await temporaryRoot(), 'taken');
    await writeFile(root, 'a file where a folder should be');
    const { given, reported } = options(root);
    await using transcript = new Transcript(given);
    await transcript.append(bodies([said('a')]));
    await transcript.append(bodies([replied('b')]));
    expect(reported).toEqual([expect.stringContaining(`${transcript.path} cannot be written (ENOTDIR`)]);
  });

  test('rejects an id that is not a UUID', async () => {
    const root = await temporaryRoot();
    expect(() => new Transcript(options(root, { sessionId: '../../x' }).given)).toThrow(RangeError);
  });

  test('two processes that resume the same session leave every line whole', async () => {
    const root = await temporaryRoot();
    await using transcript = new Transcript(options(root).given);
    await transcript.append(bodies([said('go'), replied('ok')]));
    const { lastUuid } = await contents(transcript);
    const script = fileURLToPath(new URL('./fixtures/append.ts', import.meta.url));
    const run = (who: string) =>
      promisify(execFile)(process.execPath, [script, root, CWD, SESSION, String(lastUuid), who]);
    await Promise.all([run('one'), run('two')]);
    const text = await readFile(transcript.path, 'utf8');
    const read = readTranscript(text);
    expect(read.diagnostics).toEqual([
      { fault: 'other-branch', message: expect.stringMatching(/^\d+ entries belong to another branch$/) },
    ]);
    expect(read.messages).toHaveLength(202);
    expect(text.split('\n').filter((line) => line !== '')).toHaveLength(1 + 2 + 400);
  });

  test('reads back any written conversation', async () => {
    const root = await temporaryRoot();
    await fc.assert(
      fc.asyncProperty(conversations, fc.uuid(), fc.nat({ max: 10 }), async (messages, sessionId, at) => {
        const { given, reported } = options(root, { sessionId });
        await using transcript = new Transcript(given);
        await transcript.append(bodies(messages.slice(0, at)));
        await transcript.append(bodies(messages.slice(at)));
        expect(await contents(transcript)).toMatchObject({ messages, diagnostics: [] });
        expect(reported).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
