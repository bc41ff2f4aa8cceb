import { describe, expect, test } from 'vitest';
import { differences } from '../../../src/pool/pinning/differences.ts';
import { Pins } from '../../../src/pool/pinning/pins.ts';
import { findToolChange, type ToolChange } from '../../../src/pool/pinning/tool-change.ts';
import type { ListedTool } from '../../../src/protocol/mcp.ts';
import { taking, tool } from './tools.ts';

const AT = { server: 's', place: 'here' };

/** Processor time, which other processes affect less than elapsed time. */
function timed<T>(work: () => T): { result: T; ms: number } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { result, ms: (user + system) / 1000 };
}

const words = (word: string, count: number) =>
  Array.from({ length: count }, (_, n) => (n % 2 ? 'x' : `${word}${n % 7}`)).join(' ');
const parameters = (count: number, schema: unknown) =>
  taking(Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, schema])));
const choices = (word: string) =>
  parameters(1, { enum: Array.from({ length: 20_000 }, (_, n) => `${word}${n}`) });
function nested(inside: Record<string, unknown>, more: object = {}): ListedTool {
  let schema = inside;
  for (let level = 0; level < 45; level++) schema = { properties: { a: schema } };
  return tool({ inputSchema: { ...schema, ...more } });
}
const wide = () => Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]));

describe('comparing one tool takes bounded time', () => {
  test.each<[string, ListedTool, ListedTool, string]>([
    ['another long enum', choices('a'), choices('b'), 'allowed values: added "b0", "b1"'],
    [
      'every description rewritten',
      parameters(200, { description: words('a', 490) }),
      parameters(200, { description: words('b', 490) }),
      'parameter p10 description: added "b0 x b2',
    ],
    [
      'every title rewritten',
      parameters(9_000, { title: 'a' }),
      parameters(9_000, { title: 'b' }),
      'and 8994 more',
    ],
    [
      'a very long name around many findings',
      tool(),
      taking({
        ['x'.repeat(100_000)]: { properties: parameters(1_000, { description: '\u200b' }).inputSchema },
      }),
      '(U+200B) and more',
    ],
    [
      'hidden characters throughout',
      tool(),
      tool({ description: 'a\u200b'.repeat(140_000) }),
      'at least 1000 zero-width',
    ],
    ['one long word of look-alikes', tool(), taking({ [`${'а'.repeat(140_000)}b`]: {} }), 'parameter а'],
    ['a difference under 45 levels', nested(wide()), nested({ ...wide(), k0: 'x' }), 'k0 0 → "x"'],
    ['a difference above 45 levels', nested(wide()), nested(wide(), { title: 'x' }), 'title: added "x"'],
    [
      'a description beyond the size limit',
      tool(),
      tool({ description: 'a\u200b'.repeat(4_000_000) }),
      'too large or too deeply nested',
    ],
  ])('%s', (_, before, after, said) => {
    const { result, ms } = timed(() => findToolChange(AT, before, after) as ToolChange);
    expect(result.text).toContain(said);
    expect(result.text.length).toBeLessThan(3_000);
    expect(result.differences.length).toBeLessThan(310);
    expect(ms).toBeLessThan(500);
  });
});

test('unlisted differences are counted and never displace a more severe one', () => {
  const before = parameters(500, { minLength: 1 });
  const after = parameters(500, { minLength: 2 });
  const { properties } = after.inputSchema as { properties: Record<string, unknown> };
  const worse = taking({ ...properties, last: { description: 'Your keys' } }, 'last');
  const found = differences(before, worse);
  expect(found[0]).toMatchObject({ severity: 'high', part: 'parameters.last' });
  expect(found).toHaveLength(22);
  expect(found.at(-1)).toEqual({ part: '…', severity: 'low', text: '480 more low changes', count: 480 });
});

test('each tool of a long rewritten list is compared, in bounded time', () => {
  const list = (word: string) =>
    Array.from({ length: 1_000 }, (_, n) => tool({ name: `t${n}`, description: words(word, 490) }));
  const pins = new Pins();
  pins.observe(AT, list('a'));
  const { result, ms } = timed(() => pins.observe(AT, list('b')));
  const { changes } = result;
  expect(changes).toHaveLength(1_000);
  expect(changes.at(-1)?.text).toContain('description: added "b0 x b2 x b4 x');
  expect(pins.changeOf(AT, list('b').at(-1) as ListedTool)?.text).toBe(changes[0]?.text);
  expect(ms).toBeLessThan(2_000);
});

test('a list with very many differences reports each tool with a bounded number of them', () => {
  const list = (word: string, hidden: string) =>
    Array.from({ length: 300 }, (_, n) => ({
      ...parameters(100, { title: word, description: `x${hidden}` }),
      name: `t${n}`,
    }));
  const pins = new Pins();
  pins.observe(AT, list('a', ''));
  const { changes } = pins.observe(AT, list('b', '\u200b'));
  expect(changes).toHaveLength(300);
  expect(changes.at(-1)?.differences).toHaveLength(21);
  expect(changes.at(-1)).toMatchObject({
    findings: expect.arrayContaining([expect.objectContaining({ kind: 'zero-width' })]),
  });
});
