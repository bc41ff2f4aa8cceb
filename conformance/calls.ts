import type { HostTool } from 'toolplane/host';

/** One tool call of a scenario. */
export type Call = { name: string; arguments: Record<string, unknown> };

/** The context that the suite passes in `MCP_CONFORMANCE_CONTEXT`. */
export type Context = { toolCalls?: readonly Call[] };

type Choose = (tools: readonly HostTool[], context: Context) => readonly Call[];

/** The calls that a scenario expects after listing the tools; other scenarios expect none. */
export function callsOf(scenario: string, tools: readonly HostTool[], context: Context): readonly Call[] {
  const choose = scenario.startsWith('auth/') ? everyTool : CALLS[scenario];
  return choose?.(tools, context) ?? [];
}

/** Calls every listed tool, with a sample value for each property of its schema. */
const everyTool: Choose = (tools) =>
  tools.map(({ name, inputSchema }) => ({ name, arguments: sampleOf(inputSchema) }));

const CALLS: Readonly<Record<string, Choose>> = {
  tools_call: everyTool,
  'elicitation-sep1034-client-defaults': everyTool,
  'sse-retry': everyTool,
  'sep-2322-client-request-state': everyTool,
  'http-standard-headers': everyTool,
  'http-custom-headers': (_, { toolCalls = [] }) => toolCalls,
  'http-invalid-tool-headers': everyTool,
  'json-schema-2020-12-preservation': (tools) => {
    const focal = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    const echo = tools.find(({ name }) => name !== focal?.name);
    return focal && echo ? [{ name: echo.name, arguments: { schema: focal.inputSchema } }] : [];
  },
};

type Schema = { type?: unknown; properties?: Record<string, Schema> };

function sampleOf(schema: object): Record<string, unknown> {
  const { properties = {} } = schema as Schema;
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, sampleValue(property)]),
  );
}

function sampleValue({ type }: Schema): unknown {
  return typeof type === 'string' && Object.hasOwn(SAMPLES, type) ? SAMPLES[type] : 'value';
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  number: 5,
  integer: 5,
  boolean: true,
  object: {},
  array: [],
  null: null,
};
