import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/mcp/discovery/read-list.ts';
import { listTools } from '../../../src/mcp/discovery/request-lists.ts';
import type { ListedTool } from '../../../src/protocol/mcp.ts';

type Recorded = { server: string; capabilities: object; listResultExtra?: object; tools: ListedTool[] };

const ROOT = new URL('../../../data/tool-catalogue/', import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, ROOT), 'utf8'));
const { anomalies, totals } = read('index.json');
const servers: Recorded[] = readdirSync(ROOT)
  .filter(
    (name) => name.endsWith('.json') && !['index.json', 'queries.json', 'unseen-queries.json'].includes(name),
  )
  .map(read);

const discover = ({ server, capabilities, listResultExtra, tools }: Recorded) =>
  listTools({ name: server, capabilities, listTools: async () => ({ ...listResultExtra, tools }) });

/** The number of repairs in the lists of real servers; all other lists need none. */
const MENDED: Record<string, number> = { gitlab: 9 };

describe('the tools of published servers', () => {
  test.each(servers.map((it) => [it.server, it] as const))('%s: all are kept', async (server, recorded) => {
    const { items, diagnostics } = await discover(recorded);
    expect(items.map(({ name }) => name)).toEqual(recorded.tools.map(({ name }) => name));
    expect(diagnostics.filter(({ outcome }) => outcome !== 'kept')).toEqual([]);
    expect(diagnostics).toHaveLength(MENDED[server] ?? 0);
    // An entry that needs no repair is the same object as the received one.
    const told = new Set(diagnostics.map(({ entry }) => entry));
    for (const [at, item] of items.entries()) {
      if (!told.has(item.name)) expect(item).toBe(recorded.tools[at]);
      expect(item.inputSchema.type).toBe('object');
    }
  });

  test('are all there', async () => {
    const found = await Promise.all(servers.map(discover));
    expect(found.reduce((sum, { items }) => sum + items.length, 0)).toBe(totals.tools);
    expect([servers.length, totals.tools]).toEqual([141, 4583]);
  });
});

describe('each anomaly of the catalogue', () => {
  const byName = new Map(servers.map((it) => [it.server, it]));

  test('a schema without a type is read as an object schema, with a diagnostic', async () => {
    const found = await discover(byName.get('gitlab') as Recorded);
    const fault = '"inputSchema" does not have type "object"; type "object" is assumed';
    expect(found.diagnostics.map(({ entry }) => `gitlab/${entry}`)).toEqual(anomalies.missingRootType.items);
    expect(found.diagnostics.map(formatDiagnostic)[0]).toBe(`tool "create_or_update_file": ${fault}`);
    expect(found.items.map(({ inputSchema }) => inputSchema)).toEqual(
      found.items.map(() => expect.objectContaining({ type: 'object' })),
    );
  });

  test('unknown members of a list are ignored, and its TTL is read', async () => {
    for (const { server, keys } of anomalies.extraListResultKeys.items as {
      server: string;
      keys: string[];
    }[]) {
      const found = await discover(byName.get(server) as Recorded);
      expect(found.ttlMs).toBe(keys.includes('ttlMs') ? 0 : undefined);
      expect(found.diagnostics).toEqual([]);
    }
  });

  test.each<[string, (tool: ListedTool) => boolean, string[]]>([
    [
      'schemas that contradict their draft',
      ({ name }) => name === 'netlify-coding-rules',
      anomalies.invalidInputSchemas.items.map(({ tool }: { tool: string }) => tool),
    ],
    [
      'required parameters that are not declared',
      ({ name }) => name === 'worker_put' || name === 'swagger_create_table_of_contents',
      anomalies.requiredNotDeclared.items.map(({ tool }: { tool: string }) => tool),
    ],
    ['recursive schemas', (tool) => JSON.stringify(tool).includes('"$ref"'), anomalies.recursiveRef.items],
    ['deep schemas', () => true, anomalies.deepSchemas.items.map(({ tool }: { tool: string }) => tool)],
    ['huge definitions', () => true, anomalies.hugeTools.items.map(({ tool }: { tool: string }) => tool)],
  ])('%s are kept as they are', async (_, isSuch, names) => {
    expect(names.length).toBeGreaterThan(0);
    for (const full of names) {
      const [server = '', name] = full.split('/');
      const recorded = byName.get(server) as Recorded;
      const { items } = await discover(recorded);
      const item = items.find((it) => it.name === name);
      expect(item, full).toBe(recorded.tools.find((it) => it.name === name));
      expect(isSuch(item as ListedTool), full).toBe(true);
    }
  });

  test.each([
    ['duplicateNamesInOneList'],
    ['missingInputSchema'],
    ['rootTypeNotObject'],
    ['missingDescription'],
    ['toolNamesOutsideCharset'],
  ])('%s: the catalogue has none', (name) => {
    expect(anomalies[name].count).toBe(0);
  });
});
