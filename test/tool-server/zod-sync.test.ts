import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { isSurelySync } from '../../src/tool-server/zod-sync.ts';

const tree: z.ZodType = z.object({
  get children() {
    return z.array(tree);
  },
});

describe('zod’s own parts are surely synchronous', () => {
  test.each<[string, z.ZodType]>([
    ['primitives', z.object({ s: z.string(), n: z.number(), b: z.boolean(), u: z.unknown() })],
    [
      'checks',
      z.object({ s: z.string().min(1).max(9).regex(/a/).trim(), n: z.number().int().min(0), e: z.email() }),
    ],
    ['wrappers', z.object({ o: z.string().optional(), d: z.number().default(2), n: z.null().nullable() })],
    [
      'containers',
      z.object({ a: z.array(z.string()), r: z.record(z.string(), z.number()), t: z.tuple([z.string()]) }),
    ],
    ['choices', z.object({ e: z.enum(['a', 'b']), l: z.literal(1), u: z.union([z.string(), z.number()]) })],
    ['nested and recursive', z.object({ tree, inner: z.object({ deep: z.string() }) })],
  ])('%s', (_, schema) => expect(isSurelySync(schema)).toBe(true));
});

describe('whatever may run somebody’s code is not', () => {
  test.each<[string, unknown]>([
    ['a refinement', z.object({ s: z.string().refine(async () => true) })],
    ['a refinement of the whole', z.object({}).refine(() => true)],
    [
      'a super-refinement deep inside',
      z.object({ a: z.array(z.object({ s: z.string().superRefine(() => {}) })) }),
    ],
    ['a transform', z.object({ s: z.string().transform(async (it) => it) })],
    ['a pipe', z.object({ s: z.string().pipe(z.string()) })],
    ['a custom schema', z.object({ s: z.custom<string>() })],
    ['a lazy schema', z.object({ s: z.lazy(() => z.string()) })],
    ['a preprocessing', z.object({ s: z.preprocess((it) => it, z.string()) })],
    ['something else', { _zod: {} }],
  ])('%s', (_, schema) => expect(isSurelySync(schema)).toBe(false));
});
