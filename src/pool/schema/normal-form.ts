import { isRecord } from '../../base/json-value.ts';
import type { JsonSchema } from '../../protocol/mcp.ts';
import { argumentAliases, withAliases } from './argument-names.ts';
import { Meter, TooLarge } from './meter.ts';
import { openRoot, TOO_DEEP, TOO_LARGE } from './open-root.ts';
import { plainSchema, withArrayItems } from './plain-schema.ts';
import { survey } from './survey.ts';

/** A schema as a model is told it, and the arguments that have other names in it: from the server's name to that. */
export type NormalForm = { readonly schema: JsonSchema; readonly aliases: ReadonlyMap<string, string> };

/** Whatever the schema, this takes a bounded time and room; one that would take more becomes a root that says so. */
export function normalForm(schema: JsonSchema): NormalForm {
  if (!isRecord(schema)) return { schema: { type: 'object', properties: {} }, aliases: NONE };
  const facts = survey(schema, LARGEST);
  const open = (why: string): NormalForm => ({ schema: openRoot(schema, why), aliases: NONE });
  if (facts.isDeep) return open(TOO_DEEP);
  if (facts.isLarge) return open(TOO_LARGE);
  const meter = new Meter(MOST_STEPS);
  const most = Math.min(LARGEST, 4 * facts.size + SPARE);
  try {
    const plain = plainSchema(schema, facts, meter);
    const aliases = argumentAliases(plain, meter);
    const named = withAliases(plain, aliases, meter);
    const normal = facts.hasBareArrays ? withArrayItems(named, most) : named;
    if (normal === schema) return { schema, aliases };
    const { isDeep, isLarge } = survey(normal, most);
    if (isDeep) return open(TOO_DEEP);
    return isLarge ? open(TOO_LARGE) : { schema: normal, aliases };
  } catch (cause) {
    if (cause instanceof TooLarge) return open(TOO_LARGE);
    throw cause;
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

/** In characters. The largest of thousands of real schemas has 84,000, and a model that read one of this size little else. */
const LARGEST = 600_000;
/** What a small schema may become larger by, over four times its size. */
const SPARE = 64_000;
/** Some dozen times what the largest real schema takes; about a tenth of a second. */
const MOST_STEPS = 1_500_000;
