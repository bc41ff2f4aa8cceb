import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostError } from '../../../src/mcp/errors/host-error.ts';
import {
  completionParams,
  mayComplete,
  parseCompletionResult,
  parsePromptResult,
  parseResourceResult,
} from '../../../src/mcp/features/feature-results.ts';

describe('read answers', () => {
  const READERS = {
    'resources/read': (answer: unknown) => parseResourceResult('a', 'x:', answer),
    'prompts/get': (answer: unknown) => parsePromptResult('a', answer),
    'completion/complete': (answer: unknown) => parseCompletionResult('a', answer),
  };

  test('contents without a URI get the requested one; unknown members are kept', () => {
    const answer = { contents: [{ text: 'a', more: 1 }], _meta: { own: 1 }, ttlMs: 0 };
    expect(READERS['resources/read'](answer)).toEqual({
      contents: [{ uri: 'x:', text: 'a', more: 1 }],
      _meta: { own: 1 },
    });
  });

  test.each([
    { type: 'text', text: '' },
    { type: 'image', data: 'AA==', mimeType: 'image/png' },
    { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'x:', blob: 'AA==' } },
    { type: 'resource_link', uri: 'x:', name: 'x' },
    { type: 'hologram', depth: 3 },
  ])('a message with %j is taken as it is', (content) => {
    const messages = [{ role: 'assistant', content }];
    expect(READERS['prompts/get']({ messages, description: 'd' })).toEqual({ messages, description: 'd' });
  });

  test.each([
    { type: 'text' },
    { type: 'image', data: 'AA==' },
    { type: 'audio', mimeType: 'audio/wav', data: 7 },
    { type: 'resource', resource: { uri: 'x:' } },
    { type: 'resource', resource: null },
    { type: 'resource_link', uri: 'x:' },
    { type: 7 },
  ])('a message with %j is refused', (content) => {
    const answer = { messages: [{ role: 'user', content }] };
    expect(() => READERS['prompts/get'](answer)).toThrow(/messages\[0\]: "content": /);
  });

  const text = fc.string();
  const piece = fc.oneof(
    fc.record({ uri: text, text, mimeType: text }, { requiredKeys: ['uri', 'text'] }),
    fc.record({ uri: text, blob: fc.base64String(), mimeType: text }, { requiredKeys: ['uri', 'blob'] }),
  );
  const block = fc.oneof(
    fc.record({ type: fc.constant('text'), text }),
    fc.record({ type: fc.constantFrom('image', 'audio'), data: fc.base64String(), mimeType: text }),
    fc.record({ type: fc.constant('resource'), resource: piece }),
    fc.record({ type: fc.constant('resource_link'), uri: text, name: text }),
  );
  const GOOD = {
    'resources/read': fc.record({ contents: fc.array(piece) }),
    'prompts/get': fc.record({
      messages: fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), content: block })),
    }),
    'completion/complete': fc.record({
      completion: fc.record({ values: fc.array(text), total: fc.nat(), hasMore: fc.boolean() }),
    }),
  };
  const METHODS = Object.keys(GOOD) as (keyof typeof GOOD)[];

  test.each(METHODS)('%s: every good answer comes through whole', (method) => {
    fc.assert(
      fc.property(GOOD[method] as fc.Arbitrary<Record<string, unknown>>, (answer) => {
        expect(READERS[method](answer)).toEqual(answer.completion ?? answer);
      }),
    );
  });

  test.each(METHODS)('%s: any result is parsed or rejected with a one-line error', (method) => {
    const broken = GOOD[method] as fc.Arbitrary<unknown>;
    const answers = fc.oneof(fc.anything(), fc.tuple(broken, fc.anything(), fc.nat()).map(spoil));
    fc.assert(
      fc.property(answers, (answer) => {
        try {
          JSON.stringify(READERS[method](answer), (_, value) => (typeof value === 'bigint' ? 0 : value));
        } catch (failure) {
          expect(failure).toBeInstanceOf(HostError);
          expect((failure as HostError).message).toMatch(
            /^MCP server "a": its response to "[a-z/]+" is malformed: .+$/,
          );
        }
      }),
    );
  });

  /** A valid result in which one member has another value. */
  function spoil([good, odd, at]: [unknown, unknown, number]): unknown {
    const places: [object, string][] = [];
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, member] of Object.entries(value)) {
        places.push([value, key]);
        walk(member);
      }
    };
    const copy: unknown = structuredClone(good);
    walk(copy);
    const place = places[at % Math.max(1, places.length)];
    if (place) Object.assign(place[0], { [place[1]]: odd });
    return copy;
  }
});

describe('completion', () => {
  test.each([
    [{ completions: {} }, '2025-11-25', true],
    [{}, '2025-11-25', false],
    [{}, '2025-03-26', false],
    [{}, '2024-11-05', true],
    [{}, '', false],
  ])('one that offers %j and speaks %s may be asked: %s', (capabilities, protocolVersion, may) => {
    expect(mayComplete({ capabilities, protocolVersion })).toBe(may);
  });

  test.each([
    [{ prompt: 'p' }, {}, { ref: { type: 'ref/prompt', name: 'p' } }],
    [{ resourceTemplate: 'a:{b}' }, {}, { ref: { type: 'ref/resource', uri: 'a:{b}' } }],
    [
      { prompt: 'p' },
      { c: 'd' },
      { ref: { type: 'ref/prompt', name: 'p' }, context: { arguments: { c: 'd' } } },
    ],
  ])('the request for %j with %j', (of, context, expected) => {
    const argument = { name: 'x', value: 'y' };
    expect(completionParams(of, argument, context)).toEqual({ argument, ...expected });
  });
});
