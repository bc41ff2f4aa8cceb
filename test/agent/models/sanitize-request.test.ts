import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anthropicParams } from '../../../src/agent/models/anthropic.ts';
import type { ModelMessage, ModelRequest } from '../../../src/agent/models/model.ts';
import { openAiParams } from '../../../src/agent/models/openai.ts';
import {
  checkImages,
  limitImages,
  sanitizeRequest,
  wellFormed,
  withoutImages,
} from '../../../src/agent/models/sanitize-request.ts';
import type { UserBlock } from '../../../src/protocol/agent-message.ts';
import { PNG } from '../results/sources.ts';
import { modelRequest, modelTool } from './requests.ts';

describe('sanitizeRequest', () => {
  const HALF = 'a\uD83D';
  const BUILDERS: [string, (request: ModelRequest) => unknown][] = [
    ['anthropic', anthropicParams],
    ['openai', (request) => openAiParams(request, 'max_tokens')],
  ];

  test.each(BUILDERS)('%s: a request contains no lone surrogates', (_, build) => {
    const body = build(
      modelRequest({
        system: HALF,
        tools: [{ ...modelTool('t', { [HALF]: { description: HALF } }), description: HALF }],
        messages: [
          { role: 'user', content: [{ type: 'text', text: HALF }] },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: HALF },
              { type: 'tool_use', id: 't1', name: 't', input: { [HALF]: [HALF] } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: HALF }] },
              { type: 'tool_result', tool_use_id: 't2', content: HALF },
            ],
          },
        ],
      }),
    );
    const written = JSON.stringify(body);
    expect(written).not.toMatch(/\\ud83d/i);
    expect(written.split('a\uFFFD')).toHaveLength(11);
  });

  test.each(BUILDERS)('%s: limits the number of images', (_, build) => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    const image = { type: 'image' as const, source };
    const content = Array.from({ length: 21 }, () => image);
    const body = JSON.stringify(build(modelRequest({ messages: [{ role: 'user', content }] })));
    expect(body.split('AAAA')).toHaveLength(12);
    expect(body.split('[Earlier image omitted]')).toHaveLength(11);
  });

  test('well-formed values and members are returned as the same object', () => {
    const request = modelRequest({ tools: [modelTool('a'), modelTool('b', { x: { enum: [HALF] } })] });
    const { tools, messages, ...rest } = sanitizeRequest(request);
    expect(rest).toEqual((({ tools: _, messages: __, ...others }) => others)(request));
    expect(messages).toBe(request.messages);
    expect(tools[0]).toBe(request.tools[0]);
    expect(tools[1]?.input_schema).toEqual({ type: 'object', properties: { x: { enum: ['a\uFFFD'] } } });
  });

  test('any data becomes well-formed and is otherwise unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(wellFormed(value)).toBe(value);
        const strange = { [`${HALF}b`]: value, c: [value, HALF] };
        expect(wellFormed(strange)).toEqual({ 'a\uFFFDb': value, c: [value, 'a\uFFFD'] });
      }),
    );
  });

  test('accepts very deep data', () => {
    const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000));
    expect(wellFormed(deep)).toBe(deep);
  });
});

describe('invalid and rejected images', () => {
  const image = (data: string, media_type = 'image/png'): UserBlock => ({
    type: 'image',
    source: { type: 'base64', media_type, data },
  });
  const pixel = PNG.toString('base64');
  const omitted = { type: 'text', text: expect.stringContaining('Image omitted') };

  test.each([
    ['a png', image(pixel), image(pixel)],
    ['a png that is declared as jpeg', image(pixel, 'image/jpeg'), image(pixel)],
    ['other data', image('QUFBQQ=='), omitted],
    ['no data', image(''), omitted],
    [
      'a type that only some endpoints accept',
      image('QUFBQQ==', 'image/bmp'),
      image('QUFBQQ==', 'image/bmp'),
    ],
  ])('%s in a prompt', (_, given, expected) => {
    expect(checkImages([{ type: 'text', text: 'look' }, given])).toEqual([
      { type: 'text', text: 'look' },
      expected,
    ]);
  });

  test('the images since the last reply are removed first', () => {
    const user = (...content: UserBlock[]): ModelMessage => ({ role: 'user', content });
    const reply: ModelMessage = { role: 'assistant', content: [{ type: 'text', text: 'ok' }] };
    const result = { type: 'tool_result' as const, tool_use_id: 't', content: [image(pixel)] };
    const messages = [user(image(pixel)), reply, user(result)];
    const latest = withoutImages(messages, 'latest') ?? [];
    expect(latest.map((it) => JSON.stringify(it).includes('"image"'))).toEqual([true, false, false]);
    expect(withoutImages(latest, 'latest')).toBe(undefined);
    expect(JSON.stringify(withoutImages(latest, 'all'))).not.toContain('"image"');
  });
});

describe('limit of images', () => {
  const LEFT_OUT = '[Earlier image omitted]';

  /** A PNG with this many pixels on its longer side and this many base64 characters. */
  function image(pixels: number, length = 0): UserBlock {
    const bytes = Buffer.from(PNG);
    bytes.writeUInt32BE(pixels, 16);
    const data = bytes.toString('base64').padEnd(length, 'A');
    return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  }

  /** One message for each image: every other one is a tool's, with its path beside it. */
  function conversation(images: readonly UserBlock[]): ModelMessage[] {
    return images.map((it, n) => {
      const path: UserBlock = { type: 'text', text: `[Image: source: /${n}.png]` };
      const content: UserBlock[] =
        n % 2 === 0 ? [it] : [{ type: 'tool_result', tool_use_id: `t${n}`, content: [it, path] }];
      return { role: 'user', content };
    });
  }

  /** Which images are there, by number. */
  function kept(messages: readonly ModelMessage[]): number[] {
    return messages.flatMap((message, n) => (JSON.stringify(message).includes('"image"') ? [n] : []));
  }

  const from = (first: number, count: number) => Array.from({ length: count - first }, (_, n) => first + n);
  const many = (count: number, ...one: Parameters<typeof image>) =>
    conversation(Array.from({ length: count }, () => image(...one)));

  test.each([
    ['small ones up to a hundred', many(100, 2_000), 0],
    ['fifty go of more', many(101, 2_000), 50],
    ['and they are enough for fifty more', many(150, 2_000), 50],
    ['and then fifty more', many(151, 2_000), 100],
    ['large ones up to twenty', many(20, 2_001), 0],
    ['ten go of more', many(21, 2_001), 10],
    ['and are enough for ten more', many(30, 2_001), 10],
    ['and then ten more', many(31, 2_001), 20],
    ['up to 20 MB', many(4, 100, 5_000_000), 0],
    ['half of that goes of more', many(5, 100, 5_000_000), 2],
    ['and is enough for some more', many(6, 100, 5_000_000), 2],
    ['and then another half', many(7, 100, 5_000_000), 4],
  ])('%s', (_, messages, gone) => {
    expect(kept(limitImages(messages))).toEqual(from(gone, messages.length));
  });

  test('a conversation within the limit is returned as the same object', () => {
    const messages = many(20, 8_000);
    expect(limitImages(messages)).toBe(messages);
  });

  test('one large image, or one of unknown size, lowers the limit, also after it was dropped', () => {
    const small = Array.from({ length: 40 }, () => image(10));
    const unseen: UserBlock = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    expect(kept(limitImages(conversation(small)))).toHaveLength(40);
    for (const odd of [image(3_000), unseen]) {
      expect(kept(limitImages(conversation([...small, odd])))).toEqual(from(30, 41));
      expect(kept(limitImages(conversation([odd, ...small])))).toEqual(from(30, 41));
    }
  });

  test('a text replaces a dropped image; other blocks are kept', () => {
    const messages = limitImages(many(21, 3_000));
    const text = { type: 'text', text: LEFT_OUT };
    const path = { type: 'text', text: '[Image: source: /1.png]' };
    expect(messages.slice(0, 2)).toEqual([
      { role: 'user', content: [text] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: [text, path] }] },
    ]);
  });

  test('always keeps the newest image, and ignores other roles', () => {
    const said: ModelMessage = { role: 'assistant', content: [{ type: 'text', text: 'hm' }] };
    const [first, second] = conversation([image(10), image(10, 25_000_000)]) as [ModelMessage, ModelMessage];
    expect(kept(limitImages([first, said, second]))).toEqual([2]);
  });

  test('the sent prefix stays the same in most requests while a conversation grows', () => {
    const one = fc.tuple(fc.constantFrom(10, 10, 10, 10, 2_500), fc.constantFrom(0, 0, 0, 3_000_000));
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 60 }), (given) => {
        const all = conversation(given.map(([pixels, length]) => image(pixels, length)));
        let changes = 0;
        let before: number[] = [];
        for (const [at] of all.entries()) {
          const now = kept(limitImages(all.slice(0, at + 1)));
          expect(now.at(-1)).toBe(at);
          if (now.length <= before.length) changes++;
          before = now;
        }
        const data = given.reduce((sum, [, length]) => sum + Math.max(length, 200), 0);
        expect(changes).toBeLessThanOrEqual(Math.ceil(all.length / 10) + Math.ceil(data / 10_000_000));
      }),
      { numRuns: 25 },
    );
  });
});
