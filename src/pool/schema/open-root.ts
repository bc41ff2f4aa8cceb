import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import { withNote } from './subschemas.ts';

/** A root that takes any arguments and says why; of the schema it stands for it keeps the beginning of the description. */
export function openRoot(schema: unknown, why: string): Record<string, unknown> {
  const text = isRecord(schema) ? schema.description : undefined;
  const root = {
    type: 'object',
    ...(typeof text === 'string' && { description: truncate(text, LONGEST) }),
    properties: {},
  };
  return withNote(root, why);
}

/** Said of a schema that would take more room or time than any model has use for. */
export const TOO_LARGE = 'The schema of the arguments is too large to be shown; the server checks them.';

/** Said of a schema that would break those who walk it. */
export const TOO_DEEP =
  'The schema of the arguments is nested too deeply to be shown; the server checks them.';

const LONGEST = 4000;
