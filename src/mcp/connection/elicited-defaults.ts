import { isRecord } from '../../base/is-record.ts';

/** What a person filled in, with the form's own defaults where nothing was. */
export function withDefaults(schema: unknown, content: Record<string, unknown>): Record<string, unknown> {
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
  const filled = { ...content };
  for (const [key, property] of Object.entries(properties)) {
    if (filled[key] === undefined && isRecord(property) && property.default !== undefined) {
      filled[key] = property.default;
    }
  }
  return filled;
}
