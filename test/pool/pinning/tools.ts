import fc from 'fast-check';
import type { JsonSchema, ListedTool } from '../../../src/protocol/mcp.ts';

/** A tool with members of the test's choice. */
export function tool(more: Partial<ListedTool> = {}): ListedTool {
  return { name: 'find', description: 'Finds issues.', inputSchema: { type: 'object' }, ...more };
}

/** A tool with these parameters. */
export function taking(properties: Record<string, unknown>, ...required: string[]): ListedTool {
  return tool({
    inputSchema: { type: 'object', properties, ...(required.length > 0 && { required }) },
  });
}

const keyword: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    type: fc.constantFrom('string', 'number', ['string', 'null']),
    description: fc.constantFrom('one', 'one two', 'one  two', 'three'),
    enum: fc.subarray(['a', 'b', 'c']),
    default: fc.jsonValue({ maxDepth: 1 }),
    minLength: fc.nat(2),
    title: fc.string({ maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    keyword,
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'required', '__proto__'), tie('schema')),
        required: fc.subarray(['a', 'b', 'c']),
        items: tie('schema'),
        anyOf: fc.array(tie('schema'), { maxLength: 2 }),
        $defs: fc.dictionary(fc.constantFrom('x', 'y'), tie('schema')),
        odd: fc.jsonValue({ maxDepth: 1 }),
      },
      { requiredKeys: [] },
    ),
  ),
}));

/** Similar tools, so that two of them often differ in one member or in none. */
export const tools: fc.Arbitrary<ListedTool> = fc.record(
  {
    name: fc.constantFrom('find', 'seek'),
    title: fc.constantFrom('T', 'U'),
    description: fc.constantFrom('Finds.', 'Finds it.', ''),
    inputSchema: schema,
    outputSchema: schema,
    annotations: fc.record({ readOnlyHint: fc.boolean(), title: fc.constant('x') }, { requiredKeys: [] }),
    _meta: fc.dictionary(fc.constantFrom('anthropic/searchHint', 'ui'), fc.jsonValue({ maxDepth: 1 })),
  },
  { requiredKeys: ['name', 'inputSchema'] },
);

/** The same value with the members of every object in reverse order. */
export function reversed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(reversed) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, reversed(member)] as const)
      .reverse(),
  ) as T;
}
