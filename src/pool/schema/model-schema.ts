import type { JsonSchema } from '../../protocol/mcp.ts';
import { normalForm } from './normal-form.ts';

/**
 * A tool's input schema as the model APIs take it: draft 2020-12, references only within it, and a root that is
 * `{ type: 'object', properties }` without alternatives, references or conditions. The same object where nothing had
 * to change.
 *
 * It accepts exactly the objects that the given one accepts, wherever that can be written so. Else it accepts more,
 * never less, and the root's description says in words what is missing; the server checks its arguments anyhow.
 * Wider are: alternatives at the root (all their properties, each in any of its forms; required is what all require),
 * `not`, `if`, `enum` and `const` there, references that lead nowhere, keywords whose values are not legal, anywhere
 * what would refuse more because of these (a `not` of such a reference), and schemas that are too large or nested too
 * deeply. Arguments whose names an API refuses have others; `argumentsFor` takes those back.
 */
export function modelSchema(schema: JsonSchema): JsonSchema {
  return normalForm(schema).schema;
}
