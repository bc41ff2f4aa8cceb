import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { modelSchema } from '../../../src/pool/schema/model-schema.ts';
import { acceptor, expectLegal } from './validators.ts';

type Json = Record<string, unknown>;
const FOLDER = new URL('../../../data/tool-catalogue/', import.meta.url);

const TOOLS = globSync('*.json', { cwd: FOLDER })
  .filter((file) => !['index.json', 'queries.json', 'unseen-queries.json'].includes(file))
  .sort()
  .flatMap((file) => {
    const { server, tools } = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
    return tools.map((tool: { name: string; inputSchema: Json }) => {
      const { $schema, ...plain } = tool.inputSchema;
      return {
        name: `${server}/${tool.name}`,
        original: tool.inputSchema,
        plain,
        normal: modelSchema(tool.inputSchema),
      };
    });
  }) as { name: string; original: Json; plain: Json; normal: Json }[];

const CHANGED = TOOLS.filter(({ plain, normal }) => JSON.stringify(plain) !== JSON.stringify(normal));

test('every schema of the catalogue becomes one that the APIs take, and stays so', () => {
  expect(TOOLS.length).toBe(4583);
  for (const { normal } of TOOLS) {
    expectLegal(normal);
    expect(modelSchema(normal)).toBe(normal);
  }
});

test('few need more than their draft taken off, and none of those says less to a model', () => {
  expect(CHANGED.length).toBe(31);
  const because = (name: string) => CHANGED.find((it) => it.name === name)?.normal;
  expect(because('netlify/netlify-coding-rules')).toMatchObject({
    properties: { creationType: expect.not.objectContaining({ enum: expect.anything() }) },
  });
  expect(Object.keys(because('twilio/TwilioApiV2010--ListMessage')?.properties as Json)).toEqual(
    expect.arrayContaining(['DateSent', expect.stringMatching(/^DateSent__[0-9a-f]{8}$/)]),
  );
  for (const { plain, normal } of CHANGED) {
    expect(JSON.stringify(normal).length).toBeGreaterThan(JSON.stringify(plain).length - 20);
  }
});

test('what they accept is what they accepted', () => {
  const isRenamed = (name: string) => name.startsWith('twilio/');
  const compared = [...CHANGED, ...TOOLS.filter((_, at) => at % 100 === 0)].filter(
    ({ name }) => !isRenamed(name),
  );
  const seen = { true: 0, false: 0 };
  for (const { name, original, normal } of compared) {
    // ajv rejects an empty `enum`.
    if (name === 'netlify/netlify-coding-rules') continue;
    const [before, after] = [acceptor({ ...original, $schema: undefined }, 7), acceptor(normal, 2020)];
    for (let seed = 1; seed <= 30; seed++) {
      const value = sample(original, original, randomFrom(seed), 0);
      if (typeof value !== 'object' || value === null) continue;
      const expected = before(value);
      seen[`${expected}`]++;
      expect({ name, value, accepts: after(value) }).toEqual({ name, value, accepts: expected });
    }
  }
  expect(Math.min(seen.true, seen.false)).toBeGreaterThan(100);
});

/** A random value that the schema often accepts and often nearly accepts. */
function sample(schema: unknown, root: Json, random: () => number, depth: number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  if (typeof schema !== 'object' || schema === null || depth > 8 || random() < 0.02)
    return pick([null, 1, 'x', {}]);
  const it = schema as Json;
  if (typeof it.$ref === 'string') {
    const target = it.$ref.split('/').slice(1);
    return sample(
      target.reduce<unknown>((at, key) => (at as Json)?.[key], root),
      root,
      random,
      depth + 1,
    );
  }
  if ('const' in it) return it.const;
  if (Array.isArray(it.enum) && it.enum.length > 0) return pick(it.enum);
  for (const key of ['anyOf', 'oneOf']) {
    if (Array.isArray(it[key])) return sample(pick(it[key]), root, random, depth + 1);
  }
  const type = Array.isArray(it.type) ? pick(it.type) : (it.type ?? (it.properties ? 'object' : 'string'));
  if (type === 'object') {
    const required = new Set(Array.isArray(it.required) ? it.required : []);
    const entries = Object.entries((it.properties ?? {}) as Json)
      .filter(([name]) => random() < (required.has(name) ? 0.97 : 0.3))
      .map(([name, form]) => [name, sample(form, root, random, depth + 1)]);
    return Object.fromEntries(random() < 0.1 ? [...entries, ['unheard', 1]] : entries);
  }
  if (type === 'array') return [sample(it.items ?? {}, root, random, depth + 1)];
  if (type === 'string')
    return pick(['', 'x', 'a longer text', '2024-01-01T00:00:00Z', 'https://example.com/']);
  return type === 'boolean' ? random() < 0.5 : type === 'null' ? null : pick([0, 1, 10, 2.5]);
}

function randomFrom(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
