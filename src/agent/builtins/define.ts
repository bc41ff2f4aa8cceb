import type { ToolAnnotations } from '../../protocol/mcp.ts';
import { failedOutcome, type ToolOutcome } from '../loop/tool-call.ts';
import type { BuiltIn, BuiltInWorld } from './built-in.ts';
import { type InputOf, inputFault, type Members } from './check-input.ts';
import { systemFault } from './system-fault.ts';

/** A built-in as its file writes it; the schema, the check of the input and its type all come from the members. */
export type Definition<R extends Members, O extends Members> = {
  readonly name: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly required: R;
  readonly optional: O;
  readonly beside?: 'others';
  readonly pathMember?: keyof (R & O) & string;
  readonly uriMember?: keyof (R & O) & string;
  /** May throw what the system threw, and anything once the signal is aborted. */
  run(input: InputOf<R, O>, world: BuiltInWorld, signal: AbortSignal): Promise<ToolOutcome>;
};

/** Makes the built-in: wrong input, a refusal of the system and an abort are failed outcomes of one line. */
export function defineBuiltIn<const R extends Members, const O extends Members>(
  definition: Definition<R, O>,
): BuiltIn {
  const { name, description, annotations, required, optional, beside, pathMember, uriMember, run } =
    definition;
  const inputSchema = {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
  return {
    listed: { name, description, inputSchema, annotations },
    ...(beside && { beside }),
    ...(pathMember && { pathMember }),
    ...(uriMember && { uriMember }),
    async run(input, world, signal) {
      const fault = inputFault(input, required, optional);
      if (fault !== undefined) return failedOutcome(`${name}: ${fault}`);
      try {
        signal.throwIfAborted();
        return await run(input as InputOf<R, O>, world, signal);
      } catch (thrown) {
        if (signal.aborted) return failedOutcome(`${name} was interrupted`);
        const refusal = systemFault(thrown);
        if (refusal === undefined) throw thrown;
        return failedOutcome(refusal);
      }
    },
  };
}
