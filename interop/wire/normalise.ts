/** Texts that mean the same on every machine and in every run: paths, ids and versions get stable names. */
export type Normaliser = (text: string) => string;

const UUID = /\b(?!00000000-|ffffffff-)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** `places` maps a literal text to its name; request ids are numbered in the order the lines first use them. */
export function normaliser(places: ReadonlyMap<string, string>, lines: readonly string[]): Normaliser {
  const ids = new Map(requestIds(lines).map((id, index) => [id, `id${index + 1}`]));
  const uuids = new Map<string, string>();
  const literals = [...places, ...ids].sort(([a], [b]) => b.length - a.length);
  return (text) => {
    let out = text;
    for (const [literal, name] of literals) out = out.replaceAll(literal, name);
    return out.replace(UUID, (uuid) => {
      const name = uuids.get(uuid) ?? `uuid${uuids.size + 1}`;
      uuids.set(uuid, name);
      return name;
    });
  };
}

/** The same for every string inside a JSON value, keys included. */
export function normaliseJson(value: unknown, normalise: Normaliser): unknown {
  return value === undefined ? undefined : (JSON.parse(normalise(JSON.stringify(value))) as unknown);
}

function requestIds(lines: readonly string[]): string[] {
  const seen = new Set<string>();
  for (const line of lines) {
    const frame = JSON.parse(line) as { type?: unknown; request_id?: unknown };
    if (frame.type === 'control_request' && typeof frame.request_id === 'string') seen.add(frame.request_id);
  }
  return [...seen];
}
