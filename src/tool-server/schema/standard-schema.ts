import type { JsonSchema } from '../../protocol/mcp.ts';

/** The subset of Standard Schema version 1, with its JSON Schema extension, that tools use. */
export type StandardSchema<Input = unknown, Output = Input> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { target: string }) => Record<string, unknown>;
      readonly output: (options: { target: string }) => Record<string, unknown>;
    };
  };
};

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** A plain object of field schemas, as `z.object()` takes it. */
export type RawShape = { readonly [field: string]: StandardSchema };

/** A JSON Schema; a keyword at its root distinguishes it from a shape of fields. */
export type PlainJsonSchema = JsonSchema &
  ({ readonly type: string } | { readonly properties: object } | { readonly $ref: string });

/** The schemas that `tool()` accepts. */
export type ToolSchema = StandardSchema | RawShape | JsonSchema;

/** The type of the validated arguments that a handler receives. */
export type ArgsOf<Schema> = Schema extends StandardSchema
  ? OutputOf<Schema>
  : Schema extends RawShape
    ? ShapeOutput<Schema>
    : Record<string, unknown>;

/** The arguments of a zod shape as the official package infers them: optional fields are members that may be undefined. */
export type InferShape<Shape extends RawShape> = {
  [Field in keyof Shape]: Shape[Field] extends { _output: infer Output } ? Output : never;
} & {};

type OutputOf<Schema> = Schema extends {
  readonly '~standard': { readonly types?: { readonly output: infer Output } | undefined };
}
  ? Output
  : never;

type ShapeOutput<Shape extends RawShape> = Flatten<
  { [K in keyof Shape as undefined extends OutputOf<Shape[K]> ? never : K]: OutputOf<Shape[K]> } & {
    [K in keyof Shape as undefined extends OutputOf<Shape[K]> ? K : never]?: OutputOf<Shape[K]>;
  }
>;

type Flatten<T> = { [K in keyof T]: T[K] };

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    '~standard' in value &&
    typeof value['~standard'] === 'object'
  );
}

/** A compiled schema: the JSON Schema sent to the model, and the validation of arguments, which applies defaults. */
export type CompiledSchema = {
  readonly json: JsonSchema;
  check(value: unknown): Checked | Promise<Checked>;
};

export type Checked = { ok: true; value: unknown } | { ok: false; message: string };
