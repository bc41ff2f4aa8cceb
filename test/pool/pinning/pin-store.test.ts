import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openPins } from '../../../src/pool/pinning/pins.ts';
import { temporaryRoot } from '../../agent/transcript/sessions.ts';
import { tool } from './tools.ts';

const WRITER = fileURLToPath(new URL('fixtures/pin-writer.ts', import.meta.url));
const AT = { server: 'a/../b', place: 'here' };
const ONE = tool({ annotations: { readOnlyHint: true }, _meta: { 'anthropic/searchHint': 'x', ui: 1 } });
const TWO = tool({ title: 'Two' });

async function directory(): Promise<string> {
  return join(await temporaryRoot(), 'deep', 'pins');
}

/** The one file in a directory of pins. */
function fileIn(path: string): string {
  const names = readdirSync(path).filter((name) => name.endsWith('.json'));
  expect(names).toHaveLength(1);
  return join(path, names[0] as string);
}

test('a file without removed tools is read, and one with a renamed tool is read back', async () => {
  const path = await directory();
  openPins(path).observe(AT, [ONE]);
  const old = {
    format: 1,
    server: AT.server,
    places: [{ place: 'here', accepted: [ONE, tool({ name: 'b' })], pending: [] }],
  };
  writeFileSync(fileIn(path), JSON.stringify(old));
  expect(openPins(path).observe(AT, [ONE, tool({ name: 'b' })]).changes).toEqual([]);
  const [change] = openPins(path).observe(AT, [ONE, tool({ name: 'c' })]).changes;
  expect(change?.text).toContain('it resembles the removed tool "b"');
  expect(openPins(path).all()).toEqual([change]);
});

test('accepted and pending definitions survive a restart, in files that only the owner can read', async () => {
  const path = await directory();
  openPins(path).observe(AT, [ONE]);
  expect(openPins(path).observe(AT, [ONE])).toEqual({ changes: [], isElsewhere: false });
  const [change] = openPins(path).observe(AT, [TWO]).changes;
  expect(change?.differences.map(({ part }) => part)).toEqual([
    'annotations.readOnlyHint',
    '_meta.anthropic/searchHint',
    'title',
  ]);
  expect(openPins(path).all()).toEqual([change]);
  expect(openPins(path).accept('a/../b')).toEqual([change]);
  expect(openPins(path).all()).toEqual([]);
  expect(openPins(path).changeOf(AT, TWO)).toBeUndefined();
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(fileIn(path)).mode & 0o777).toBe(0o600);
  expect(readdirSync(path)).toHaveLength(1);
});

test('unchanged pins are not written again', async () => {
  const path = await directory();
  openPins(path).observe(AT, [ONE]);
  const before = statSync(fileIn(path)).ino;
  openPins(path).observe(AT, [ONE]);
  openPins(path).changeOf(AT, TWO);
  expect(statSync(fileIn(path)).ino).toBe(before);
});

test('two processes keep each other’s pins', async () => {
  const path = await directory();
  const [one, two] = [openPins(path), openPins(path)];
  one.observe(AT, [tool({ name: 'a' })]);
  two.observe(AT, [tool({ name: 'b' })]);
  one.observe({ server: AT.server, place: 'there' }, [tool({ name: 'c' })]);
  const changed = ['a', 'b'].map((name) => tool({ name, title: 'x' }));
  expect(
    openPins(path)
      .observe(AT, changed)
      .changes.map((it) => it.tool),
  ).toEqual(['a', 'b']);
});

test.each([
  ['no JSON', '{"format":1,', 'the file is not valid JSON'],
  ['no object', '[]', '"format" is missing'],
  ['an unknown format', '{"format":0}', 'its format 0 is unknown'],
  ['no server', '{"format":1}', '"server" or "places" is missing'],
  ['another server', '{"format":1,"server":"x","places":[]}', 'the file belongs to server "x"'],
  [
    'a definition that is none',
    '{"format":1,"server":"a/../b","places":[{"place":"here","accepted":[{"name":7}],"pending":[]}]}',
    '"places" contains a malformed entry',
  ],
])('a file with %s is reported once and renamed, and its tools are accepted', async (_, text, fault) => {
  const path = await directory();
  openPins(path).observe(AT, [ONE]);
  const file = fileIn(path);
  writeFileSync(file, text);
  const notes: string[] = [];
  const pins = openPins(path, { note: (it, server) => notes.push(`${server}: ${it}`) });
  expect(pins.observe(AT, [TWO]).changes).toEqual([]);
  expect(notes).toEqual([
    `a/../b: the tools that server "a/../b" lists now are accepted without comparing them with earlier ones (review them with \`toolplane tools -s a/../b\`): ${file} cannot be used: ${fault}`,
  ]);
  expect(readFileSync(`${file}.broken`, 'utf8')).toBe(text);
  expect(openPins(path).observe(AT, [ONE]).changes).toHaveLength(1);
});

test('a file of a newer version is reported and never overwritten; changes last until the process ends', async () => {
  const path = await directory();
  openPins(path).observe(AT, [ONE]);
  const newer = '{"format":2,"server":"a/../b"}';
  writeFileSync(fileIn(path), newer);
  const notes: string[] = [];
  const pins = openPins(path, { note: (it) => notes.push(it) });
  expect(pins.observe(AT, [ONE]).changes).toEqual([]);
  expect(pins.observe(AT, [TWO]).changes).toHaveLength(1);
  expect(pins.accept(AT.server)).toHaveLength(1);
  expect(pins.changeOf(AT, TWO)).toBeUndefined();
  expect(notes).toEqual([
    expect.stringContaining('its format is 2, but this version of Toolplane supports 1'),
  ]);
  expect(readFileSync(fileIn(path), 'utf8')).toBe(newer);
});

test('in read mode, pins are compared and nothing is written', async () => {
  const path = await directory();
  openPins(path, { mode: 'read' }).observe(AT, [ONE]);
  expect(() => readdirSync(path)).toThrow();
  openPins(path).observe(AT, [ONE]);
  const before = readFileSync(fileIn(path), 'utf8');
  const pins = openPins(path, { mode: 'read' });
  expect(pins.observe(AT, [TWO]).changes).toHaveLength(1);
  pins.accept(AT.server);
  expect(pins.changeOf(AT, TWO)).toBeUndefined();
  expect(readFileSync(fileIn(path), 'utf8')).toBe(before);
});

test('an unusable directory is reported once, and pins are kept for the session', async () => {
  const root = await temporaryRoot();
  writeFileSync(join(root, 'file'), '');
  const notes: string[] = [];
  const pins = openPins(join(root, 'file', 'pins'), { note: (it) => notes.push(it) });
  pins.observe(AT, [ONE]);
  expect(pins.observe(AT, [TWO]).changes).toHaveLength(1);
  expect(notes).toHaveLength(1);
});

test('other files in the directory are ignored', async () => {
  const path = await directory();
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'readme.json'), '{}');
  writeFileSync(join(path, 'x'), '');
  expect(openPins(path).all()).toEqual([]);
});

test('two processes that write at the same time lose nothing', async () => {
  const root = await temporaryRoot();
  const writers = ['a', 'b'].map((who) => {
    const child = spawn(process.execPath, [WRITER, root, who], { stdio: ['ignore', 'ignore', 'inherit'] });
    return once(child, 'exit');
  });
  expect((await Promise.all(writers)).map(([code]) => code)).toEqual([0, 0]);
  const seen = ['a', 'b'].flatMap((who) => Array.from({ length: 40 }, (_, n) => `${who}${n}`));
  const changed = seen.map((name) => tool({ name, title: 'x' }));
  const { changes } = openPins(root).observe({ server: 's', place: 'here' }, changed);
  expect(changes.map((it) => it.tool)).toEqual(seen);
  expect(readdirSync(root)).toHaveLength(1);
}, 30_000);

test('a file that is not a lock file is reported without waiting', async () => {
  const path = await directory();
  openPins(path).observe(AT, [ONE]);
  mkdirSync(`${fileIn(path)}.lock`);
  const notes: string[] = [];
  const pins = openPins(path, { note: (text) => notes.push(text) });
  expect(pins.observe(AT, [TWO]).changes).toHaveLength(1);
  expect(pins.all()).toHaveLength(1);
  expect(notes).toEqual([
    expect.stringMatching(/kept for this session only: .*\.lock exists but is not a Toolplane lock file/),
  ]);
});
