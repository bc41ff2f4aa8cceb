import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDiagnostic } from '../../../src/config/files/diagnostics.ts';
import {
  type Choice,
  type IgnoredServer,
  type Merged,
  SCOPES,
  type Scope,
  type Source,
  type WrittenServer,
} from '../../../src/config/model.ts';
import type { ExternalServerEntry } from '../../../src/protocol/server-entry.ts';
import { normalizeName } from '../../../src/protocol/tool-name.ts';
import { merge, sourceOf, written } from './written.ts';

const HOSTILE = [
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
  'a\nb',
  '\u0000',
  '😀',
  '\ud800',
  'x'.repeat(10_000),
];

// Few letters and few addresses, so that equal ones are frequent.
const name = fc.oneof(fc.stringMatching(/^[ab_.]{1,3}$/), fc.constantFrom(...HOSTILE), fc.string());
const entry: fc.Arbitrary<ExternalServerEntry | 'broken'> = fc.oneof(
  fc.constant('broken' as const),
  fc.record({ command: fc.constantFrom('run', `\${RUN}`) }),
  fc.record({
    url: fc.constantFrom('https://a.example.com', 'https://A.example.com/', `\${URL}`),
    trust: fc.boolean(),
  }),
);
const scope: fc.Arbitrary<Scope> = fc.constantFrom(...SCOPES, 'project', 'local');
const choice: fc.Arbitrary<Choice> = fc.constantFrom('approved', 'rejected', 'new', 'changed');

type World = {
  readonly sources: Source[];
  readonly choices: Record<string, Choice>;
  readonly isStrict: boolean;
};

const world = (scopes = scope): fc.Arbitrary<World> =>
  fc
    .record({
      sources: fc.array(
        fc.record({
          scope: scopes,
          choice,
          servers: fc.uniqueArray(fc.tuple(name, entry), {
            minLength: 1,
            maxLength: 4,
            selector: ([it]) => it,
          }),
        }),
        { maxLength: 6 },
      ),
      isStrict: fc.boolean(),
    })
    .map(({ sources, isStrict }) => ({
      sources: sources.map((it, index) => {
        const [first, ...rest] = it.servers.map(([key, value]) =>
          written(it.scope, key, value, `source ${index}`),
        );
        return sourceOf(first as WrittenServer, ...rest);
      }),
      choices: Object.fromEntries(sources.map((it, index) => [`source ${index}`, it.choice])),
      isStrict,
    }));

const mergeIt = ({ sources, ...rest }: World) => merge(sources, rest);
const winners = ({ servers }: Merged) => new Map(servers.map((it) => [it.name, it.written]));
const allLost = ({ servers, lost }: Merged): IgnoredServer[] => [
  ...servers.flatMap((it) => it.lost),
  ...lost,
];
const COUNTING = new Set(['ready', 'blocked', 'disabled', 'broken']);

test('every entry occurs once, as used or as ignored', () => {
  fc.assert(
    fc.property(world(), (it) => {
      const merged = mergeIt(it);
      const told = [...winners(merged).values(), ...allLost(merged).map((lost) => lost.written)];
      const all = it.sources.flatMap(({ servers }) => servers);
      expect(told).toHaveLength(all.length);
      expect(new Set(told)).toEqual(new Set(all));
    }),
  );
});

test('names are unique and sorted, also when normalized; every winner is used', () => {
  fc.assert(
    fc.property(world(), (it) => {
      const merged = mergeIt(it);
      const names = merged.servers.map((server) => server.name);
      expect(names).toEqual([...new Set(names)].sort());
      const seen = merged.servers
        .filter(({ verdict }) => verdict.kind === 'ready')
        .map((server) => normalizeName(server.name));
      expect(new Set(seen).size).toBe(seen.length);
      const have = new Set(winners(merged).values());
      for (const { winner } of allLost(merged)) expect(winner === undefined || have.has(winner)).toBe(true);
    }),
  );
});

test('the order of sources of different scopes does not matter', () => {
  fc.assert(
    fc.property(world(), fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), (it, keys) => {
      // Sources of the same scope keep their order.
      const shuffled = SCOPES.map((scope, index) => ({ key: keys[index % keys.length] ?? 0, scope }))
        .toSorted((a, b) => a.key - b.key)
        .flatMap(({ scope }) => it.sources.filter((source) => source.scope === scope));
      expect(mergeIt({ ...it, sources: shuffled })).toEqual(mergeIt(it));
    }),
  );
});

test('a source of lower precedence shadows nothing', () => {
  fc.assert(
    fc.property(world(), world(), (it, more) => {
      const lowest = Math.min(...it.sources.map(({ scope }) => SCOPES.indexOf(scope)));
      const lower = more.sources
        .filter(({ scope }) => SCOPES.indexOf(scope) < lowest)
        .map((source) => ({
          ...source,
          servers: source.servers.map((server) => ({ ...server, label: 'lower' })),
        }));
      const before = mergeIt(it).servers.filter(({ verdict }) => COUNTING.has(verdict.kind));
      const after = winners(mergeIt({ ...it, sources: [...lower, ...it.sources] }));
      for (const server of before) {
        if (it.choices[server.written.label] !== 'approved' && /project|local/.test(server.written.scope))
          continue;
        expect(after.get(server.name)).toBe(server.written);
      }
    }),
  );
});

test('merging the used entries again changes nothing', () => {
  fc.assert(
    fc.property(world(), (it) => {
      const merged = mergeIt(it);
      expect(mergeIt(it)).toEqual(merged);
      const have = new Set(winners(merged).values());
      const alone = it.sources.map((source) => ({
        ...source,
        servers: source.servers.filter((server) => have.has(server)),
      }));
      const again = mergeIt({ ...it, sources: alone });
      expect(again.servers).toEqual(merged.servers.map((server) => ({ ...server, lost: [] })));
      expect(allLost(again)).toEqual([]);
    }),
  );
});

test('only approved entries that flags and managed files admit are ready', () => {
  fc.assert(
    fc.property(world(), (it) => {
      const isManaged = it.sources.some((source) => source.scope === 'managed');
      for (const { written: server, verdict } of mergeIt(it).servers) {
        if (verdict.kind !== 'ready') continue;
        if (isManaged) expect(server.scope).toBe('managed');
        if (it.isStrict) expect(['program', 'managed']).toContain(server.scope);
        if (/project|local/.test(server.scope)) expect(it.choices[server.label]).toBe('approved');
      }
    }),
  );
});

test('hostile names neither throw nor break lines, and only affect their own entry', () => {
  const servers = HOSTILE.map((it) => written('user', it));
  const twins = HOSTILE.map((it) => written('project', `${it}.`)).concat(
    HOSTILE.map((it) => written('project', `${it}_`)),
  );
  const [[first, ...rest], [twin, ...others]] = [servers, twins] as unknown as [
    [WrittenServer],
    [WrittenServer],
  ];
  const merged = merge([sourceOf(first, ...rest), sourceOf(twin, ...others)], {
    overrides: HOSTILE.map((it) => ({ name: it, label: 's', scope: 'user', members: { timeout: 7 } })),
  });
  for (const it of HOSTILE.filter((hostile) => hostile !== ' ')) {
    const server = merged.servers.find((found) => found.name === it);
    if (server) expect(server.entry).toEqual({ command: 'user-command', timeout: 7 });
  }
  expect(merged.servers.some(({ name: it }) => it === '__proto__')).toBe(true);
  expect(merged.faults.length).toBeGreaterThan(5);
  for (const fault of merged.faults) {
    expect(formatDiagnostic(fault)).toMatch(/^.{1,500}$/);
  }
  expect(({} as Record<string, unknown>).timeout).toBeUndefined();
});
