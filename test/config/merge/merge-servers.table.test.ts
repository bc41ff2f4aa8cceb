import { describe, expect, test } from 'vitest';
import type { Choice, Scope, Source } from '../../../src/config/model.ts';
import { merge, sourceOf, told, written } from './written.ts';

/** Which of two entries gets the name `x`, and why the other one does not. */
const BY_HAND = `connector + plugin                  x: plugin ready; lost: connector shadowed to plugin
connector + user                    x: user ready; lost: connector shadowed to user
connector + project pending         x: connector ready; lost: project pending pending to connector
connector + project approved        x: project approved ready; lost: connector shadowed to project approved
connector + project rejected        x: connector ready; lost: project rejected rejected to connector
connector + local pending           x: connector ready; lost: local pending pending to connector
connector + local approved          x: local approved ready; lost: connector shadowed to local approved
connector + program                 x: program ready; lost: connector shadowed to program
connector + managed                 x: managed ready; lost: connector managed to managed
plugin + user                       x: user ready; lost: plugin shadowed to user
plugin + project pending            x: plugin ready; lost: project pending pending to plugin
plugin + project approved           x: project approved ready; lost: plugin shadowed to project approved
plugin + project rejected           x: plugin ready; lost: project rejected rejected to plugin
plugin + local pending              x: plugin ready; lost: local pending pending to plugin
plugin + local approved             x: local approved ready; lost: plugin shadowed to local approved
plugin + program                    x: program ready; lost: plugin shadowed to program
plugin + managed                    x: managed ready; lost: plugin managed to managed
user + project pending              x: user ready; lost: project pending pending to user
user + project approved             x: project approved ready; lost: user shadowed to project approved
user + project rejected             x: user ready; lost: project rejected rejected to user
user + local pending                x: user ready; lost: local pending pending to user
user + local approved               x: local approved ready; lost: user shadowed to local approved
user + program                      x: program ready; lost: user shadowed to program
user + managed                      x: managed ready; lost: user managed to managed
project pending + project approved  x: project approved ready; lost: project pending pending to project approved
project pending + project rejected  x: project pending pending; lost: project rejected rejected
project pending + local pending     x: local pending pending; lost: project pending pending
project pending + local approved    x: local approved ready; lost: project pending pending to local approved
project pending + program           x: program ready; lost: project pending pending to program
project pending + managed           x: managed ready; lost: project pending managed to managed
project approved + project rejected x: project approved ready; lost: project rejected rejected to project approved
project approved + local pending    x: project approved ready; lost: local pending pending to project approved
project approved + local approved   x: local approved ready; lost: project approved shadowed to local approved
project approved + program          x: program ready; lost: project approved shadowed to program
project approved + managed          x: managed ready; lost: project approved managed to managed
project rejected + local pending    x: local pending pending; lost: project rejected rejected
project rejected + local approved   x: local approved ready; lost: project rejected rejected to local approved
project rejected + program          x: program ready; lost: project rejected rejected to program
project rejected + managed          x: managed ready; lost: project rejected managed to managed
local pending + local approved      x: local approved ready; lost: local pending pending to local approved
local pending + program             x: program ready; lost: local pending pending to program
local pending + managed             x: managed ready; lost: local pending managed to managed
local approved + program            x: program ready; lost: local approved shadowed to program
local approved + managed            x: managed ready; lost: local approved managed to managed
program + managed                   x: managed ready; lost: program managed to managed
`;

/** Every kind of source, lowest precedence first. */
const KINDS = [
  'connector',
  'plugin',
  'user',
  'project pending',
  'project approved',
  'project rejected',
  'local pending',
  'local approved',
  'program',
  'managed',
] as const;

type Kind = (typeof KINDS)[number];

const PAIRS = KINDS.flatMap((a, index) => KINDS.slice(index + 1).map((b): Kind[] => [a, b]));
const TRIPLES = PAIRS.flatMap(([a, b]) =>
  KINDS.slice(KINDS.indexOf(b as Kind) + 1).map((c) => [a, b, c] as Kind[]),
);

/** The kinds that may get a name, highest precedence first. */
const ORDER: readonly Kind[] = [
  'program',
  'local approved',
  'project approved',
  'user',
  'plugin',
  'connector',
];

/** The entry that is shown if no eligible entry has the name. */
const SHOWN: readonly Kind[] = ['local pending', 'project pending', 'project rejected'];

const lastWord = (kind: Kind) => kind.split(' ').at(-1) as string;

/** The rules in a second, shorter implementation. */
function expected(
  kinds: readonly Kind[],
  {
    isStrict = false,
    isForbidden = false,
    broken,
  }: { isStrict?: boolean; isForbidden?: boolean; broken?: Kind } = {},
): string[] {
  const highestFirst = KINDS.toReversed().filter((kind) => kinds.includes(kind));
  const order = isStrict ? ORDER.slice(0, 1) : ORDER;
  const winner = kinds.includes('managed') ? 'managed' : order.find((kind) => kinds.includes(kind));
  const shown = winner ?? (isStrict ? undefined : SHOWN.find((kind) => kinds.includes(kind)));
  const why = (kind: Kind) => {
    if (winner === 'managed') return 'managed';
    if (isStrict) return 'left-out';
    return ORDER.includes(kind) ? 'shadowed' : lastWord(kind);
  };
  const lost = highestFirst
    .filter((kind) => kind !== shown)
    .map((kind) => `${kind} ${why(kind)}${winner ? ` to ${winner}` : ''}`);
  if (shown === undefined) return lost.map((it) => `without a holder, x: ${it}`);
  const verdict = () => {
    if (shown === broken && shown !== 'project rejected') return 'broken';
    if (winner === undefined) return lastWord(shown);
    return isForbidden ? 'blocked' : 'ready';
  };
  return [`x: ${shown} ${verdict()}${lost.length > 0 ? `; lost: ${lost.join(', ')}` : ''}`];
}

const CHOICES: Readonly<Record<string, Choice>> = {
  'project pending': 'new',
  'project rejected': 'rejected',
  'local pending': 'changed',
};

function source(kind: Kind, name = 'x', broken?: Kind): Source {
  const scope = kind.split(' ')[0] as Scope;
  return sourceOf(written(scope, name, kind === broken ? 'broken' : { command: kind }, kind));
}

const of = (kinds: readonly Kind[], more: Parameters<typeof merge>[1] & { broken?: Kind } = {}) => {
  const { broken, ...rest } = more;
  const sources = kinds.map((kind) => source(kind, 'x', broken));
  return told(merge(sources, { ...rest, choices: CHOICES }));
};

describe('one name in several sources (R166, R168, R169)', () => {
  test('the table has all pairs and triples', () => {
    expect([PAIRS.length, TRIPLES.length]).toEqual([45, 120]);
  });

  test.each(KINDS)('%s alone', (kind) => {
    expect(of([kind])).toEqual(expected([kind]));
  });

  test.each(PAIRS)('%s and %s', (...kinds) => {
    expect(of(kinds)).toEqual(expected(kinds));
  });

  test.each(TRIPLES)('%s, %s and %s', (...kinds) => {
    expect(of(kinds)).toEqual(expected(kinds));
  });

  test('any number of sources', () => {
    for (let set = 0; set < 2 ** KINDS.length; set += 1) {
      const kinds = KINDS.filter((_, index) => (set >> index) & 1);
      if (kinds.length > 0) expect(of(kinds), kinds.join(' + ')).toEqual(expected(kinds));
    }
  });

  test('all pairs, as a literal table', () => {
    const table = PAIRS.map((kinds) => `${kinds.join(' + ').padEnd(35)} ${of(kinds).join(' | ')}`);
    expect(`${table.join('\n')}\n`).toBe(BY_HAND);
  });
});

describe.each([...PAIRS.map((kinds) => [kinds]), ...TRIPLES.map((kinds) => [kinds])])('%s', (kinds) => {
  test('entries with different names are only ignored beside a managed file', () => {
    const merged = merge(
      kinds.map((kind) => source(kind, kind)),
      { choices: CHOICES },
    );
    const isManaged = kinds.includes('managed');
    const alone = (kind: Kind) => {
      if (isManaged && kind !== 'managed') return `without a holder, ${kind}: ${kind} managed`;
      return `${kind}: ${kind} ${SHOWN.includes(kind) ? lastWord(kind) : 'ready'}`;
    };
    expect(told(merged).toSorted()).toEqual(kinds.map(alone).toSorted());
  });

  test('with --strict-mcp-config only program and managed servers are used', () => {
    expect(of(kinds, { isStrict: true })).toEqual(expected(kinds, { isStrict: true }));
  });

  test('an invalid entry keeps its name; an unapproved one does not', () => {
    for (const broken of kinds) expect(of(kinds, { broken })).toEqual(expected(kinds, { broken }));
  });

  test('a forbidden entry keeps its name and is not replaced', () => {
    const policy = { judge: () => ({ kind: 'forbidden', rule: 'a rule' }) as const };
    expect(of(kinds, { policy })).toEqual(expected(kinds, { isForbidden: true }));
  });
});
