import type { ValidateFunction } from 'ajv';
import { isRecord } from '../../base/json-value.ts';
import { serverArguments } from '../../pool/schema/model-schema.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { failedOutcome, type ToolOutcome, type ToolUse } from '../loop/run-calls.ts';
import type { BuiltIn } from './built-in.ts';

export const STRUCTURED_OUTPUT = 'StructuredOutput';

/** Number of calls with invalid output after which the turn ends. */
const MAX_ATTEMPTS = 5;

const REMINDER =
  'This turn needs structured output; a reply as text is not used. Return the reply with the StructuredOutput tool.';

/** The output schema of a session: how the model returns its final reply as data, and the state of the current turn. */
export class StructuredOutput {
  /** The tool that the model calls with the output. */
  readonly tool: BuiltIn;
  readonly #maxAttempts: number;
  #given: { readonly value: unknown } | undefined;
  #failures = 0;
  #lastError = '';
  #isReminded = false;

  private constructor(schema: JsonSchema, validate: ValidateFunction, maxAttempts: number) {
    this.#maxAttempts = maxAttempts;
    const isWrapped = schema.type !== undefined && schema.type !== 'object';
    const inputSchema = isWrapped ? wrapped(schema) : schema;
    this.tool = {
      listed: {
        name: STRUCTURED_OUTPUT,
        description:
          'Returns the final reply of the turn as data. Call it once, when the work is done; the arguments are the reply.',
        inputSchema,
        annotations: { title: 'Structured output', readOnlyHint: true },
      },
      faults: () => [],
      run: async (input) => {
        const args = serverArguments(inputSchema, input);
        const value = isWrapped ? args[WRAPPER] : args;
        if (!validate(value)) return failedOutcome(errorText(validate));
        this.#given = { value };
        return { content: 'Structured output provided successfully', isError: false };
      },
    };
  }

  /** Compiles the schema, by draft 2020-12 if `$schema` names it, else by draft 7. Returns the fault of an invalid schema. */
  static async compile(
    schema: JsonSchema,
    maxAttempts = MAX_ATTEMPTS,
  ): Promise<StructuredOutput | { readonly fault: string }> {
    const { $schema, ...plain } = schema;
    const Engine = /2019-09|2020-12/.test(String($schema))
      ? (await import('ajv/dist/2020.js')).Ajv2020
      : (await import('ajv')).Ajv;
    const engine = new Engine({ allErrors: true, strict: false, validateFormats: false, logger: false });
    try {
      if (!engine.validateSchema(plain)) return { fault: engine.errorsText(engine.errors) };
      return new StructuredOutput(plain, engine.compile(plain), maxAttempts);
    } catch (cause) {
      return { fault: messageOf(cause) };
    }
  }

  /** The output of the current turn; undefined until the model has given a valid one. */
  get given(): { readonly value: unknown } | undefined {
    return this.#given;
  }

  startTurn(): void {
    this.#given = undefined;
    this.#failures = 0;
    this.#isReminded = false;
  }

  /** Counts the failed attempts of a batch of calls; returns why the turn must end once there were too many. */
  attemptsError(calls: readonly ToolUse[], outcomes: readonly ToolOutcome[]): string | undefined {
    for (const [at, { name }] of calls.entries()) {
      const { isError, content } = outcomes[at] ?? {};
      if (name !== STRUCTURED_OUTPUT || isError !== true) continue;
      this.#failures++;
      this.#lastError = typeof content === 'string' ? content : '';
    }
    if (this.#given || this.#failures < this.#maxAttempts) return undefined;
    return `Failed to provide valid structured output after ${this.#failures} attempts — last StructuredOutput error: ${this.#lastError}`;
  }

  /** A text for a model that ends the turn without output, once per turn. */
  remind(): string | undefined {
    if (this.#given || this.#isReminded) return undefined;
    this.#isReminded = true;
    return REMINDER;
  }
}

/** The argument that holds an output which is not an object: model APIs accept only objects as arguments. */
const WRAPPER = 'output';

function wrapped(schema: JsonSchema): JsonSchema {
  return { type: 'object', properties: { [WRAPPER]: moved(schema) }, required: [WRAPPER] };
}

/**
 * The schema with changed references to itself: they start at the root, and the wrapper moves the schema into a
 * property.
 */
function moved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moved);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      key === '$ref' && typeof item === 'string'
        ? [key, item.replace(/^#(?=$|\/)/, `#/properties/${WRAPPER}`)]
        : [key, moved(item)],
    ),
  );
}

function errorText({ errors }: ValidateFunction): string {
  const lines = (errors ?? []).map(({ instancePath, message }) => `${instancePath || 'root'}: ${message}`);
  return `Output does not match required schema: ${lines.join(', ')}`;
}
