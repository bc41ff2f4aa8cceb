import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { hookOutputContent } from '../../../src/agent/calls/run-call.ts';
import { type ModelScript, text, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SessionOptions } from '../../../src/agent/session/session.ts';
import { Transcript } from '../../../src/agent/transcript/transcript.ts';
import type { CanUseTool } from '../../../src/sdk/options/options.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { collect } from '../../support/collect.ts';
import { allow, deny, drive, results, said } from '../../support/drive.ts';
import { PNG, sourceWith } from '../results/sources.ts';
import { temporaryRoot, options as transcriptOptions } from '../transcript/sessions.ts';

describe('run call', () => {
  const ROWS = Array.from({ length: 9_000 }, (_, id) => ({ id, name: `row ${id}` }));
  const CALL = toolUse('mcp__data__rows', {}, 't1');

  const data = () =>
    toolServer('data')
      .tool('rows', 'Rows', {}, () => JSON.stringify(ROWS))
      .tool('line', 'A line', {}, () => `${'x'.repeat(300_000)}end`)
      .tool('picture', 'A picture', {}, () => ({
        content: [{ type: 'image', data: PNG.toString('base64'), mimeType: 'image/jpeg' }],
      }))
      .tool('wide', 'Much', {}, () => 'y'.repeat(150_000), { maxResultSizeChars: 200_000 });

  /** A session that records each permission question. */
  function session(script: ModelScript, host: Partial<SessionOptions> = {}) {
    const canUseTool: CanUseTool = async () => ({ behavior: 'deny', message: 'asked' });
    const given = { mcpServers: { data: data() }, canUseTool };
    return drive(script, given, {
      builtIns: ['Read', 'Grep'],
      ...host,
      rules: [...allow('mcp__data'), ...(host.rules ?? [])],
    });
  }

  const pathIn = (said: string | undefined) => /(\/\S+\.\w+)[:\]]/.exec(said ?? '')?.[1] as string;

  test('Read and Grep page through a stored result without a permission prompt', async () => {
    const { query, model } = session((request, n) => {
      const path = pathIn(results(request).t1);
      if (n === 1) return CALL;
      if (n === 2) return toolUse('Read', { file_path: path, offset: 20_002, limit: 4 }, 't2');
      if (n === 3) return toolUse('Grep', { path, pattern: 'row 777"', output_mode: 'content' }, 't3');
      return text('ok');
    });
    await collect(query);
    const { t1, t2, t3 } = results(model.requests[3]);
    expect(t1).toMatch(
      /^The result has [\d,]+ characters in 36,002 lines, about [\d,]+ tokens, and the limit per result is /,
    );
    expect(t1?.length).toBeLessThan(3_000);
    expect(t2).toContain('20002\t {\n20003\t  "id": 5000,\n20004\t  "name": "row 5000"\n20005\t }');
    expect(t3).toContain('"name": "row 777"');
  });

  test('a stored result of one long line can be read too', async () => {
    const { query, model } = session((request, n) => {
      if (n === 1) return toolUse('mcp__data__line', {}, 't1');
      if (n === 2) {
        return toolUse('Read', { file_path: pathIn(results(request).t1), offset: 1, column: 299_999 }, 't2');
      }
      return text('ok');
    });
    await collect(query);
    expect(results(model.requests[2]).t2).toBe('1\txxend');
  });

  test('only files in the result directory are readable, links out of it are not, and deny rules apply', async () => {
    const root = await temporaryRoot();
    const directory = join(root, 'results');
    const secret = join(root, 'secret');
    writeFileSync(secret, 'secret');
    const tries: string[] = [];
    const { query, model } = session(
      (request, n) => {
        if (n === 1) return CALL;
        if (n === 2) {
          expect(dirname(pathIn(results(request).t1))).toBe(directory);
          symlinkSync(secret, join(directory, 'link'));
          const picture = join(directory, 'x.png');
          tries.push(join(directory, 'link'), join(directory, '..', 'secret'), secret, picture);
        }
        const file_path = tries[n - 2];
        return file_path === undefined ? text('ok') : toolUse('Read', { file_path }, `r${n - 1}`);
      },
      { resultsDirectory: directory, rules: deny(`Read(/${directory}/*.png)`) },
    );
    await collect(query);
    const { r1, r2, r3, r4 } = results(model.requests.at(-1));
    expect([r1, r2, r3]).toEqual(['!asked', '!asked', '!asked']);
    expect(r4).toMatch(/^!.*deny rule "Read\(.*\.png\)"/);
  });

  test('stored results of the original session are readable after a fork', async () => {
    const root = await temporaryRoot();
    const earlier = join(root, 'old', 'tool-results');
    mkdirSync(earlier, { recursive: true });
    writeFileSync(join(earlier, 'a.txt'), 'from before');
    writeFileSync(join(root, 'old', 'b.txt'), 'not a result');
    const { query, model } = session(
      [
        toolUse('Read', { file_path: join(earlier, 'a.txt') }, 't1'),
        toolUse('Read', { file_path: join(root, 'old', 'b.txt') }, 't2'),
        text('ok'),
      ],
      { resumedFrom: [join(root, 'old.jsonl')] },
    );
    await collect(query);
    expect(results(model.requests[2])).toEqual({ t1: '1\tfrom before', t2: '!asked' });
  });

  /** A prompt that stays open, so that the session continues. */
  async function* endless() {
    yield said('go');
    await new Promise(() => {});
  }

  /** A session whose tool returns thousands of files, at the time when the first of them are saved. */
  async function saving() {
    const directory = join(await temporaryRoot(), 'results');
    const audio = (n: number) => ({ type: 'audio' as const, data: btoa(`${n}`), mimeType: 'audio/wav' });
    const many = toolServer('many').tool('many', 'Many', {}, () => ({
      content: Array.from({ length: 3_000 }, (_, n) => audio(n)),
    }));
    const driven = drive(
      [toolUse('mcp__many__many', {}, 't1'), text('ok')],
      { mcpServers: { many }, prompt: endless() },
      { resultsDirectory: directory, rules: allow('mcp__many') },
    );
    const all = collect(driven.query).catch(() => {});
    await vi.waitFor(() => expect(readdirSync(directory).length).toBeGreaterThan(0), { interval: 1 });
    return { ...driven, all, saved: () => readdirSync(directory) };
  }

  test('a session that ends while a result is being saved leaves no partial file', async () => {
    const { query, session: agent, all, saved } = await saving();
    agent().end();
    await agent().done;
    const left = saved();
    query.close();
    await all;
    expect(left.length).toBeLessThan(3_000);
    expect(left.filter((name) => name.startsWith('.'))).toEqual([]);
    expect(saved()).toEqual(left);
  });

  test('an interrupt stops saving the result', async () => {
    const { query, saved } = await saving();
    await query.interrupt();
    const left = saved().filter((name) => !name.startsWith('.'));
    const directory = await temporaryRoot();
    // Takes longer than saving some more files would take.
    for (let n = 0; n < 100; n++) await writeFile(join(directory, `${n}`), '');
    expect(saved().length).toBeLessThanOrEqual(left.length + 1);
  });

  test('writing to the result directory requires approval', async () => {
    const directory = join(await temporaryRoot(), 'results');
    const write = toolUse('Write', { file_path: join(directory, 'x'), content: 'x' }, 't1');
    const { query, model } = session([write, text('ok')], {
      resultsDirectory: directory,
      builtIns: ['Read', 'Write'],
      permissionMode: 'acceptEdits',
    });
    await collect(query);
    expect(results(model.requests[1]).t1).toBe('!asked');
  });

  test.each<[string, Partial<SessionOptions>]>([
    ['without Read', { builtIns: ['Grep'] }],
    ['where a rule takes Read away', { rules: deny('Read') }],
    ['where a rule forbids to read there', { rules: deny(`Read(/${realpathSync(tmpdir())}/**)`) }],
    ['where files are switched off', { resultFiles: false }],
  ])('%s a long result is truncated', async (_, host) => {
    const { query, model } = session([CALL, text('ok')], host);
    await collect(query);
    const { t1 } = results(model.requests[1]);
    expect(t1).toMatch(/^\[\{"id":0,.*\n\[[\d,]+ characters omitted: .*\]\n.*"row 8999"\}\]$/s);
    expect(t1?.length).toBeGreaterThan(90_000);
    expect(t1?.length).toBeLessThan(101_000);
  });

  test('the session limits results, and a tool definition can raise the limit', async () => {
    const { query, model } = session([CALL, toolUse('mcp__data__wide', {}, 't2'), text('ok')], {
      maxResultTokens: 500,
    });
    await collect(query);
    const { t1, t2 } = results(model.requests[2]);
    expect(t1).toContain('the limit per result is 500 tokens');
    expect(t1?.length).toBeLessThan(1_600);
    expect(t2).toBe('y'.repeat(150_000));
  });

  test('an image is sent as an image and stored beside the transcript', async () => {
    const root = await temporaryRoot();
    await using transcript = new Transcript(transcriptOptions(root).given);
    const { query, model } = session([toolUse('mcp__data__picture', {}, 't1'), text('ok')], { transcript });
    await collect(query);
    const source = { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') };
    expect(model.requests[1]?.messages.at(-1)?.content).toEqual([
      expect.objectContaining({
        content: [
          { type: 'image', source },
          { type: 'text', text: expect.anything() },
        ],
      }),
    ]);
    const path = pathIn(results(model.requests[1]).t1);
    expect(dirname(path)).toBe(`${transcript.path.replace('.jsonl', '')}/tool-results`);
    expect(readFileSync(path)).toEqual(PNG);
    expect(readdirSync(dirname(path))).toHaveLength(1);
  });

  test('without a transcript stored results are removed at the end of the session', async () => {
    const { query, model, session: opened } = session([CALL, text('ok')]);
    await collect(query);
    const path = pathIn(results(model.requests[1]).t1);
    opened().end();
    await opened().done;
    expect(existsSync(dirname(path))).toBe(false);
  });
});

describe('output replaced by a hook', () => {
  const textBlock = (it: string) => ({ type: 'text', text: it });
  const data = PNG.toString('base64');
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  const long = 'x'.repeat(200_000);

  test.each<[string, unknown, boolean, unknown]>([
    ['a text', 'changed', false, 'changed'],
    ['a long text is its affair', [textBlock(long)], false, [textBlock(long)]],
    ['any data', { x: 1 }, false, '{"x":1}'],
    ['no blocks', [], false, '[]'],
    ['a result with a text', { content: 'so' }, false, 'so'],
    [
      'images in either form',
      [image, { type: 'image', data }],
      false,
      [image, image, textBlock('[Image: source: /saved/1.png]')],
    ],
    ['an empty block', [textBlock('')], false, [textBlock('(mcp__r__t completed with no output)')]],
    [
      'images in place of a failure',
      [textBlock('no'), image, { type: 'image', data }],
      true,
      [
        textBlock('no'),
        textBlock('[Image]'),
        textBlock('[Image: source: /saved/1.png] Not shown: the call failed.'),
      ],
    ],
  ])('%s', async (_, value, isError, expected) => {
    expect(await hookOutputContent(value, { isError }, sourceWith())).toEqual(expected);
  });
});
