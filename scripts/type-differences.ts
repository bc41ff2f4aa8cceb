/** What is compared: assignability to and from the official type, and whether ours has all its members. */
export type TypeComparison = 'toOfficial' | 'fromOfficial' | 'complete';

const TEXTS = 'is an empty list; its type does not repeat the literal texts of the official type';
const SERVERS = 'accepts more: Toolplane servers, WebSocket servers, servers without a type';

/**
 * The comparisons of exports with the official package that fail, each with its reason. A test fails if a comparison
 * fails that is not listed, or if a listed one succeeds.
 */
export const TYPE_DIFFERENCES: Readonly<Record<string, Partial<Record<TypeComparison, string>>>> = {
  AnyZodRawShape: {
    toOfficial: 'accepts more: the fields of any Standard Schema library',
    complete: 'a Standard Schema has fewer members than a zod type',
  },
  BUILTIN_TOOL_NAMES: { toOfficial: 'throws when used; its type is a list of strings' },
  InMemorySessionStore: {
    toOfficial:
      'throws when used; the official class has private members, so no other class can be assigned to it',
  },
  McpServerConfig: { toOfficial: SERVERS, complete: SERVERS },
  ORG_POLICY_LIMIT_PREFIXES: { toOfficial: TEXTS },
  Options: {
    toOfficial: 'accepts more: other servers in mcpServers, any name in betas',
    complete: 'accepts more: other servers in mcpServers, any name in betas',
  },
  USAGE_LIMIT_ERROR_PREFIXES: { toOfficial: TEXTS },
  USAGE_TRANSITION_PREFIXES: { toOfficial: TEXTS },
  USAGE_WARNING_PREFIXES: { toOfficial: TEXTS },
  createSdkMcpServer: {
    fromOfficial:
      'returns more: the server also has methods to add and call tools, which the official server does not have',
  },
  tool: {
    toOfficial: 'infers optional arguments as optional members; calls compile with both packages',
    fromOfficial: 'accepts more: any schema, and handlers that return any value',
  },
};

/** The differences as lines of a list, one per export. */
export function typeDifferenceLines(): string[] {
  return Object.entries(TYPE_DIFFERENCES).map(([name, reasons]) => {
    const texts = [...new Set(Object.values(reasons))];
    return `- \`${name}\` ${texts.join('; ')}.`;
  });
}
