import { isNestedDeeper, isRecord, MAX_NESTING } from '../../base/json-value.ts';

/** The input of a tool call as the model streamed it. Text that is not a JSON object is kept; see `invalidInput`. */
export function parseToolInput(json: string): Record<string, unknown> {
  try {
    const input: unknown = JSON.parse(json);
    if (isRecord(input)) return isNestedDeeper(input) ? TOO_DEEP : input;
  } catch {}
  return { [INVALID]: json };
}

/** Input that is nested too deeply could not be sent back to the model either. */
export function checkToolInput(input: unknown): unknown {
  return isNestedDeeper(input) ? TOO_DEEP : (input ?? {});
}

/** Why the input of a call cannot be passed to the tool; undefined if it can. */
export function inputError(name: string, input: unknown): string | undefined {
  const raw = invalidInput(input);
  if (raw === undefined) return undefined;
  return raw === DEEP_INPUT
    ? `The arguments of ${name} are nested more than ${MAX_NESTING} levels deep; pass flatter arguments`
    : `The arguments of ${name} are not a JSON object: ${raw}`;
}

/** The raw text of a tool's input, if it was not a JSON object. */
export function invalidInput(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined;
  const raw = input[INVALID];
  return typeof raw === 'string' && Object.keys(input).length === 1 ? raw : undefined;
}

/** Marks the input of a `tool_use` whose JSON is invalid; its value is the raw text. */
const INVALID = '$invalid_json';

const DEEP_INPUT = '(nested too deeply)';

const TOO_DEEP = { [INVALID]: DEEP_INPUT };
