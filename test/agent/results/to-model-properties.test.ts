import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelContent } from '../../../src/agent/results/pieces.ts';
import { IMAGE_TOKENS } from '../../../src/agent/results/result-limit.ts';
import { toModel } from '../../../src/agent/results/to-model.ts';
import { toProgram } from '../../../src/agent/results/tool-result.ts';
import { isRecord } from '../../../src/base/json-value.ts';
import { estimateTextTokens } from '../../../src/base/text/display-text.ts';
import { FULL, memoryStore, PNG, sourceWith } from './sources.ts';

/**
 * Maximum number of tokens that Toolplane's notes about a file or an omission add to a result: a label, a path, a
 * sentence.
 */
const WORDS = 350;
const MOST = [20, 200, 2_000, 25_000];
const LEGAL = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

const json = fc.jsonValue({ maxDepth: 4 });
const word = fc.string({ unit: 'binary', maxLength: 40 });
const long = fc
  .tuple(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(3_000))
  .map(([it, n]) => it.repeat(n));
const type = fc.option(fc.oneof(fc.constantFrom(...LEGAL, 'audio/wav', 'text/plain', '../x'), word), {
  nil: undefined,
});
const data = fc.oneof(
  fc.constant(PNG.toString('base64')),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  word,
);
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.oneof(word, long, fc.json()) }),
  fc.record({ type: fc.constantFrom('image', 'audio'), data, mimeType: type }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('resource_link'), uri: word, name: word }, { requiredKeys: ['type'] }),
  fc.record({
    type: fc.constant('resource'),
    resource: fc.record(
      { uri: fc.oneof(word, long), text: fc.oneof(word, long), blob: data, mimeType: type },
      { requiredKeys: [] },
    ),
  }),
  fc.record({ type: fc.oneof(word, long), more: json }),
  json,
);
const result = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      { content: fc.array(block, { maxLength: 30 }), structuredContent: json, isError: fc.boolean() },
      { requiredKeys: ['content'] },
    ),
  },
  fc.record({ content: json, structuredContent: json, isError: json }, { requiredKeys: [] }),
  json,
);
const policy = fc.record({
  maxTokens: fc.constantFrom(...MOST),
  hasFiles: fc.boolean(),
  canUse: fc.constantFrom(
    () => true,
    () => false,
  ),
});

function blocksOf({ content }: ModelContent) {
  return typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
}

function tokensOf(told: ModelContent): number {
  return blocksOf(told).reduce(
    (sum, it) => sum + (it.type === 'text' ? estimateTextTokens(it.text) : IMAGE_TOKENS),
    0,
  );
}

describe('whatever a server sends', () => {
  test('content is valid for the model API, within the limit, and deterministic', async () => {
    await fc.assert(
      fc.asyncProperty(result, policy, async (given, parts) => {
        const told = await toModel(given, sourceWith({ ...parts, store: memoryStore() }));
        const blocks = blocksOf(told);
        expect(blocks.length).toBeGreaterThan(0);
        for (const it of blocks) {
          if (it.type === 'text') {
            expect(it.text.trim()).not.toBe('');
            expect(it.text.isWellFormed()).toBe(true);
          } else {
            expect(LEGAL).toContain(it.source.media_type);
            expect(Buffer.from(it.source.data, 'base64').toString('base64')).toBe(it.source.data);
            expect(it.source.data).not.toBe('');
          }
        }
        if (told.isError) expect(typeof told.content).toBe('string');
        expect(told.isError).toBe(isRecord(given) && given.isError === true);
        const images = blocks.filter((it) => it.type === 'image').length;
        expect(tokensOf(told)).toBeLessThanOrEqual(
          parts.maxTokens + WORDS + (images > 0 ? IMAGE_TOKENS + images * 20 : 0) + blocks.length,
        );
        expect(await toModel(given, sourceWith({ ...parts, store: memoryStore() }))).toEqual(told);
        expect(() => JSON.stringify(toProgram(given as never, told))).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });

  test('a full disk does not fail a call', async () => {
    await fc.assert(
      fc.asyncProperty(result, async (given) => {
        const told = await toModel(given, sourceWith({ store: FULL, maxTokens: 200 }));
        expect(tokensOf(told)).toBeLessThanOrEqual(200 + WORDS + IMAGE_TOKENS + 30);
      }),
      { numRuns: 100 },
    );
  });

  test('every block is in the content or in a file that the content names', async () => {
    const marked = fc.array(
      fc.constantFrom('text', 'image', 'audio', 'resource_link', 'resource', 'blob', 'odd', 'none'),
      { minLength: 1, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(
        marked,
        fc.constantFrom(100, 1_000, 25_000),
        fc.boolean(),
        async (kinds, maxTokens, isError) => {
          const marks = kinds.map((_, at) => `<mark ${at}>`);
          const content = kinds.map((kind, at) => blockWith(kind, marks[at] as string));
          const store = memoryStore();
          const told = await toModel({ content, isError }, sourceWith({ store, maxTokens }));
          const said = blocksOf(told)
            .map((it) => (it.type === 'text' ? it.text : it.source.data))
            .join('\n');
          const reached = new Set(
            [...store.files].filter(([path]) => said.includes(path)).map(([, text]) => text),
          );
          // A file of texts may name further ones.
          for (const text of reached) {
            for (const [path, more] of store.files) if (text.includes(path)) reached.add(more);
          }
          const all = [said, ...reached].join('\n');
          expect(marks.filter((mark) => !all.includes(mark))).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });
});

function blockWith(kind: string, mark: string): unknown {
  const binary = Buffer.from(mark).toString('base64');
  switch (kind) {
    case 'text':
      return { type: 'text', text: `${mark} ${'words '.repeat(200)}` };
    case 'image':
      return {
        type: 'image',
        mimeType: 'image/png',
        data: Buffer.concat([PNG, Buffer.from(mark)]).toString('base64'),
      };
    case 'audio':
      return { type: 'audio', data: binary, mimeType: 'audio/wav' };
    case 'resource_link':
      return { type: 'resource_link', uri: `x://${mark}`, name: 'x' };
    case 'resource':
      return { type: 'resource', resource: { uri: 'x://y', text: mark } };
    case 'blob':
      return { type: 'resource', resource: { uri: 'x://y', blob: binary } };
    case 'odd':
      return { type: 'hologram', of: mark };
    default:
      return [mark];
  }
}
