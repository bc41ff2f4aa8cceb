import { expect, test } from 'vitest';
import { definitionOf } from '../../../src/pool/pinning/definition.ts';
import { openPins } from '../../../src/pool/pinning/open-pins.ts';
import type { PlacePins } from '../../../src/pool/pinning/pin-store.ts';
import { Pins } from '../../../src/pool/pinning/pins.ts';
import { withAccepted, withSeen } from '../../../src/pool/pinning/remember.ts';
import { temporaryRoot } from '../../agent/transcript/sessions.ts';
import { tool } from './tools.ts';

const AT = { server: 's', place: 'here' };
const NONE: PlacePins = { accepted: new Map(), pending: new Map() };
const definitions = (names: string) => [...names].map((name) => definitionOf(tool({ name })));
const seeing = (names: string) => ({
  fresh: new Map(definitions(names).map((it) => [it.name, it])),
  changed: new Map(),
  listed: new Set(names),
});
const names = ({ accepted, pending, isFull }: PlacePins) =>
  `${[...accepted.keys()].join('')}|${[...pending.keys()].join('')}${isFull ? '|full' : ''}`;
const ROOM = { tools: 3, characters: 1_000_000 };

test('tools there is no room for wait, and from then on every unknown one; nothing is forgotten', () => {
  const full = withSeen(NONE, seeing('abcd'), ROOM);
  expect(names(full)).toBe('abc|d|full');
  expect(names(withSeen(full, seeing('ef'), ROOM))).toBe('abc|efd|full');
  const roomier = { tools: 100, characters: 1_000_000 };
  expect(names(withSeen(full, seeing('e'), roomier))).toBe('abc|ed|full');
});

test('room is of characters, too', () => {
  const length = JSON.stringify(definitions('a')[0]).length;
  expect(names(withSeen(NONE, seeing('abcd'), { tools: 10, characters: 2 * length }))).toBe('ab|cd|full');
  expect(names(withSeen(NONE, seeing('ab'), { tools: 10, characters: 2 * length }))).toBe('ab|');
});

test('where somebody accepts more than there is room for, what was not listed longest is forgotten', () => {
  const full = withSeen(NONE, seeing('abcd'), ROOM);
  expect(names(withAccepted(full, definitions('d'), ROOM))).toBe('bcd||full');
  const listed = { fresh: new Map(), changed: new Map(), listed: new Set('ac') };
  expect(names(withSeen(full, listed, ROOM))).toBe('bac|d|full');
  expect(names(withAccepted(withSeen(full, listed, ROOM), definitions('d'), ROOM))).toBe('acd||full');
  expect(names(withAccepted(NONE, definitions('abcd'), ROOM))).toBe('bcd||full');
});

test('a server that lists other tools each time cannot make pins grow or be forgotten', async () => {
  const directory = await temporaryRoot();
  const list = (round: number) =>
    Array.from({ length: 4_000 }, (_, n) => tool({ name: `r${round}_${n}`, description: 'x'.repeat(100) }));
  const pins = openPins(directory);
  pins.observe(AT, [tool()]);
  for (const round of [0, 1, 2]) pins.observe(AT, list(round));
  const again = openPins(directory);
  const { changes, added } = again.observe(AT, [tool({ title: 'x' }), ...list(3)]);
  expect(changes).toHaveLength(4_001);
  expect(added).toEqual([]);
  expect(changes[0]?.before).toEqual(tool());
  expect(changes[1]?.text).toBe(
    'it is new, and its server has had too many tools for one to be accepted unseen',
  );
  expect(again.all()).toHaveLength(1_000);
  const [, unseen] = changes;
  again.acceptChange(unseen as never);
  expect(openPins(directory).changeOf(AT, list(3)[0] as never)).toBeUndefined();
  expect(openPins(directory).changeOf(AT, list(3)[1] as never)).toBeDefined();
});

test('in a session as in a file: what there is no room for is asked about', () => {
  const pins = new Pins();
  const many = Array.from({ length: 10_001 }, (_, n) => tool({ name: `t${n}` }));
  expect(pins.observe(AT, many).changes.map((it) => it.tool)).toEqual(['t10000']);
  expect(pins.changeOf(AT, many.at(-1) as never)).toBeDefined();
  expect(pins.accept('s')).toHaveLength(1);
  expect(pins.changeOf(AT, many.at(-1) as never)).toBeUndefined();
});
