import { isRecord } from '../base/json-value.ts';
import { withoutNull } from '../base/option-check.ts';
import { nearest } from '../base/text/nearest.ts';
import type { CallToolResult, Icon, ListedTool, ToolAnnotations } from '../protocol/mcp.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { Assigns, ToolContext } from './context.ts';
import { compileSchema } from './schema/schema.ts';
import {
  type ArgsOf,
  type CompiledSchema,
  type InferShape,
  isStandardSchema,
  type PlainJsonSchema,
  type RawShape,
  type StandardSchema,
  type ToolSchema,
} from './schema/standard-schema.ts';

/** Optional properties of a tool. */
export type ToolExtras = {
  annotations?: ToolAnnotations;
  title?: string;
  icons?: Icon[];
  /** Additional words by which a tool search finds this tool. */
  searchHint?: string;
  /** Always send this tool to the model instead of deferring it to tool search. */
  alwaysLoad?: boolean;
  /** Maximum number of characters of a result that the agent passes to the model unshortened. */
  maxResultSizeChars?: number;
  /** Schema of `structuredContent`. An object result is validated against it and sent as structured content. */
  outputSchema?: ToolSchema;
  /**
   * Time limit of one call in milliseconds; a longer call becomes an error result. Default: none, the agent has its
   * own limit.
   */
  timeoutMs?: number;
  _meta?: Record<string, unknown>;
};

/** A tool definition. Nothing runs until a server offers it; `handler` can be called directly in tests. */
export type ToolDefinition<Args = never, State extends object = never> = ToolExtras & {
  name: string;
  description: string;
  inputSchema: ToolSchema;
  handler: (args: Args, ctx: ToolContext<State>) => unknown;
};

/** A tool definition in the shape of the official package: a zod shape and a handler that returns a complete result. */
export type SdkMcpToolDefinition<Schema extends RawShape = RawShape> = {
  name: string;
  description: string;
  inputSchema: Schema;
  annotations?: ToolAnnotations;
  _meta?: Record<string, unknown>;
  handler: (args: InferShape<Schema>, extra: unknown) => Promise<CallToolResult>;
};

/** A tool with any arguments, for lists of tools. */
export type AnyTool = ToolDefinition<never, never>;

/**
 * Defines a tool. The type of the arguments is inferred from the schema; for a plain JSON Schema, annotate the
 * handler's parameter.
 */
export function tool<Schema extends RawShape, State extends object = Assigns>(
  name: string,
  description: string,
  schema: Schema,
  handler: (args: ArgsOf<Schema>, ctx: ToolContext<State>) => unknown,
  extras?: ToolExtras,
): ToolDefinition<ArgsOf<Schema>, State> & SdkMcpToolDefinition<Schema>;
export function tool<Schema extends StandardSchema, State extends object = Assigns>(
  name: string,
  description: string,
  schema: Schema,
  handler: (args: ArgsOf<Schema>, ctx: ToolContext<State>) => unknown,
  extras?: ToolExtras,
): ToolDefinition<ArgsOf<Schema>, State> & { inputSchema: Schema };
export function tool<Args extends object = Record<string, unknown>, State extends object = Assigns>(
  name: string,
  description: string,
  schema: PlainJsonSchema,
  handler: (args: Args, ctx: ToolContext<State>) => unknown,
  extras?: ToolExtras,
): ToolDefinition<Args, State> & { inputSchema: PlainJsonSchema };
export function tool(
  name: string,
  description: string,
  schema: ToolSchema,
  handler: (args: never, ctx: ToolContext<never>) => unknown,
  given?: ToolExtras,
): AnyTool {
  const extras = withoutNull(given ?? {});
  const definition: AnyTool = { name, description, inputSchema: schema, handler, ...extras };
  checkDefinition(definition);
  checkExtras(name, extras);
  return definition;
}

/** A validated definition, ready to be listed and called. */
export type CompiledTool = {
  readonly definition: AnyTool;
  readonly listed: ListedTool;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
};

/** Validates a definition completely, before an agent sees it. */
export function compileTool(definition: AnyTool, server: { alwaysLoad: boolean }): CompiledTool {
  checkDefinition(definition);
  const where = `tool "${definition.name}"`;
  const input = compileSchema(definition.inputSchema, where);
  const output =
    definition.outputSchema && compileSchema(definition.outputSchema, `${where}, output`, 'output');
  return { definition, input, output, listed: listTool(definition, input, output, server) };
}

function listTool(
  definition: AnyTool,
  input: CompiledSchema,
  output: CompiledSchema | undefined,
  server: { alwaysLoad: boolean },
): ListedTool {
  const { name, title, description, annotations, icons } = definition;
  const meta: Record<string, unknown> = {
    ...(server.alwaysLoad && { 'anthropic/alwaysLoad': true }),
    ...definition._meta,
  };
  if (definition.searchHint !== undefined) meta['anthropic/searchHint'] = definition.searchHint;
  if (definition.alwaysLoad || server.alwaysLoad) meta['anthropic/alwaysLoad'] = true;
  if (definition.maxResultSizeChars !== undefined) {
    meta['anthropic/maxResultSizeChars'] = definition.maxResultSizeChars;
  }
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: input.json,
    ...(annotations && { annotations }),
    ...(icons && { icons }),
    execution: { taskSupport: 'forbidden' },
    ...(output && { outputSchema: output.json }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

const EXTRAS: Required<{ [K in keyof ToolExtras]: true }> = {
  annotations: true,
  title: true,
  icons: true,
  searchHint: true,
  alwaysLoad: true,
  maxResultSizeChars: true,
  outputSchema: true,
  timeoutMs: true,
  _meta: true,
};

/** Checks only the argument of `tool()`: a definition written by hand may have additional members. */
function checkExtras(name: string, extras: unknown): void {
  const where = `tool ${JSON.stringify(name)}`;
  if (!isRecord(extras))
    throw new SdkError(
      'bad-tool',
      `${where}: the last argument of tool(), the optional properties, must be an object`,
    );
  const unknown = Object.keys(extras).find((key) => extras[key] !== undefined && !Object.hasOwn(EXTRAS, key));
  if (unknown === undefined) return;
  const guess = nearest(unknown, Object.keys(EXTRAS));
  const hint = guess ? `did you mean "${guess}"?` : `use one of ${Object.keys(EXTRAS).join(', ')}`;
  throw new SdkError('bad-tool', `${where}: "${unknown}" is not a known option of tool(); ${hint}`);
}

function checkDefinition(definition: AnyTool): void {
  if (!isRecord(definition)) {
    throw new SdkError(
      'bad-tool',
      `${String(definition)} is not a tool definition; pass a value returned by tool()`,
    );
  }
  const { name, description, inputSchema, handler, timeoutMs, maxResultSizeChars } = definition;
  const refuse = (fault: string): never => {
    throw new SdkError('bad-tool', `tool ${JSON.stringify(name)}: ${fault}`);
  };
  if (typeof name !== 'string' || name === '') refuse('the name must be a non-empty string');
  if (name.length > 128) refuse(`the name has ${name.length} characters; agents accept at most 128`);
  if (/\p{Cc}/u.test(name)) refuse('the name contains a control character');
  if (typeof description !== 'string') refuse('the description must be a string');
  if (typeof handler !== 'function' && typeof inputSchema === 'function' && !isStandardSchema(inputSchema)) {
    refuse('the schema is missing: call tool(name, description, schema, handler); {} means no arguments');
  }
  if (typeof handler !== 'function') refuse('the handler must be a function');
  for (const [option, value] of Object.entries({ timeoutMs, maxResultSizeChars })) {
    if (value !== undefined && !(typeof value === 'number' && value > 0)) refuse(`${option} must be above 0`);
  }
}
