import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema, ListedTool, ToolAnnotations } from '../../protocol/mcp.ts';

/** What a model or a person relies on when they choose a tool or let it run; icons and the like are left out. */
export type Definition = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: ToolAnnotations;
  /** Only what changes how a host treats the tool. */
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** Members of `_meta` that hosts act on begin so: whether a person must be there, what is always loaded, hints for search. */
const BEHAVIOUR = 'anthropic/';

export function definitionOf(tool: ListedTool | Definition): Definition {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const meta = Object.entries(tool._meta ?? {}).filter(([key]) => key.startsWith(BEHAVIOUR));
  return {
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations && Object.keys(annotations).length > 0 && { annotations }),
    ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }),
  };
}

/** What was written down before, if it is a definition. */
export function readDefinition(value: unknown): Definition | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || !isRecord(value.inputSchema)) return undefined;
  const isText = (it: unknown) => it === undefined || typeof it === 'string';
  const isObject = (it: unknown) => it === undefined || isRecord(it);
  const { title, description, outputSchema, annotations, _meta } = value;
  if (![title, description].every(isText) || ![outputSchema, annotations, _meta].every(isObject)) {
    return undefined;
  }
  return definitionOf(value as ListedTool);
}
