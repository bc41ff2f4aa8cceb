import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type EditOptions, editDocument } from '../../../src/config/files/edit-document.ts';
import { configPlace } from '../config-place.ts';

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const ADD = () => [{ path: ['added'], value: 1 }];

function file(text: string): string {
  const { project, write } = configPlace();
  return write(join(project, 'settings.json'), text);
}

test('creates a missing file and its directories with private modes', () => {
  const { home } = configPlace();
  const path = join(home, 'deep', 'settings.json');
  const edited = editDocument(path, ADD, { version: 1 });
  const text = '{\n  "version": 1,\n  "added": 1\n}\n';
  expect(edited).toEqual({ text, isNew: true, isChanged: true });
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect([path, dirname(path), home].map((it) => statSync(it).mode & 0o777)).toEqual([0o600, 0o700, 0o700]);
});

test('applies other modes regardless of the umask', () => {
  const { project } = configPlace();
  const path = join(project, '.toolplane', 'settings.json');
  editDocument(path, ADD, { mode: 0o644, directoryMode: 0o755 });
  expect([path, dirname(path)].map((it) => statSync(it).mode & 0o777)).toEqual([0o644, 0o755]);
  expect(readdirSync(dirname(path))).toEqual(['settings.json']);
});

test('keeps comments, unknown keys, line ends, byte order mark, mode and owner', () => {
  const path = file('\uFEFF{\r\n\t// mine\r\n\t"unknown": [1,],\r\n}\r\n');
  chmodSync(path, 0o640);
  if (process.getuid?.() === 0) chownSync(path, 1234, 2345);
  const { uid, gid } = statSync(path);
  expect(editDocument(path, ADD)).toMatchObject({ isNew: false, isChanged: true });
  expect(readFileSync(path, 'utf8')).toBe(
    '\uFEFF{\r\n\t// mine\r\n\t"unknown": [1,],\r\n\t"added": 1,\r\n}\r\n',
  );
  expect(statSync(path)).toMatchObject({ uid, gid, mode: 0o100640 });
});

test('writes and creates nothing without a change', () => {
  const path = file('{"added": 1}');
  const before = statSync(path).ino;
  expect(editDocument(path, ADD, { version: 1 })).toEqual({
    text: '{"added": 1}',
    isNew: false,
    isChanged: false,
  });
  expect(statSync(path).ino).toBe(before);
  const absent = join(dirname(path), 'none', 'at', 'all.json');
  expect(editDocument(absent, () => [{ path: ['x'], value: undefined }])).toMatchObject({ isChanged: false });
  expect(existsSync(join(dirname(path), 'none'))).toBe(false);
});

test('passes the current content to the change', () => {
  const path = file('{"n": 41}');
  editDocument(path, ({ n }) => [{ path: ['n'], value: Number(n) + 1 }]);
  expect(readFileSync(path, 'utf8')).toBe('{"n": 42}');
});

test.each<[string, string, EditOptions, string]>([
  [
    'broken',
    '{"a": 1,\n "sk-hidden',
    {},
    ':2:2 was not changed: unterminated string; a double quote is missing; fix the file first',
  ],
  ['a list', '[]', {}, ':1:1 was not changed: must contain one JSON object, { … }; fix the file first'],
  [
    'of a newer version',
    '{"version": 2}',
    { version: 1 },
    ' was not changed: has version 2, but this Toolplane supports versions up to 1; update Toolplane',
  ],
  [
    'of no version',
    '{"version": "x"}',
    { version: 1 },
    ' was not changed: "version" must be an integer from 1 to 1',
  ],
  [
    'one with what is changed in it twice',
    '{"added": 2, "added": 3}',
    {},
    ' was not changed: "added" appears more than once in the same object; remove the duplicates',
  ],
])('does not change a file that is %s', (_, text, options, message) => {
  const path = file(text);
  expect(() => editDocument(path, ADD, options)).toThrow(
    expect.objectContaining({ code: 'bad-config', message: `${path}${message}` }),
  );
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(readdirSync(dirname(path)).sort()).toEqual(['.git', 'settings.json']);
});

test('ignores the version of files that other programs share', () => {
  const path = file('{"version": "2.0.0"}');
  editDocument(path, ADD);
  expect(readFileSync(path, 'utf8')).toBe('{"version": "2.0.0", "added": 1}');
});

test('edits the target of a symbolic link and keeps the link', () => {
  const { project, userHome, write } = configPlace();
  const target = write(join(userHome, 'dotfiles', 'settings.json'), '{}');
  const path = join(project, 'settings.json');
  symlinkSync(target, path);
  editDocument(path, ADD);
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, 'utf8')).toBe('{\n  "added": 1\n}');
});

test('writes nothing through a link that leads out of the directory', () => {
  const { project, userHome } = configPlace();
  mkdirSync(join(userHome, 'theirs'));
  symlinkSync(join(userHome, 'theirs'), join(project, '.toolplane'));
  const path = join(project, '.toolplane', 'deep', 'settings.json');
  expect(() => editDocument(path, ADD, { within: project })).toThrow(
    'is a symbolic link to a path outside of',
  );
  expect(readdirSync(join(userHome, 'theirs'))).toEqual([]);
});

test('does not write a file beyond the size limit', () => {
  const text = JSON.stringify({ text: 'x'.repeat(7 * 2 ** 20) });
  const path = file(text);
  expect(() => editDocument(path, () => [{ path: ['more'], value: 'x'.repeat(2 ** 21) }])).toThrow(
    'the file would be larger than 8 MiB; remove content from it first',
  );
  expect(statSync(path).size).toBe(text.length);
});

test('does not write a project file beyond its read limit', () => {
  const path = file('{}');
  const more = () => [{ path: ['more'], value: 'x'.repeat(2 ** 20) }];
  expect(() => editDocument(path, more, { within: dirname(path) })).toThrow('would be larger than 1 MiB');
  expect(editDocument(path, more).isChanged).toBe(true);
});

test('keeps a concurrent write of a program without a lock', () => {
  const path = file('{"a": 1}');
  let times = 0;
  editDocument(path, () => {
    if (times++ === 0) writeFileSync(path, '{"theirs": 1}');
    return ADD();
  });
  expect(readFileSync(path, 'utf8')).toBe('{"theirs": 1, "added": 1}');
  expect(() =>
    editDocument(path, () => {
      writeFileSync(path, `{"theirs": ${times++}}`);
      return [{ path: ['more'], value: 1 }];
    }),
  ).toThrow('another program keeps writing to the file; try again');
});

test('keeps a concurrent write during the replacement', () => {
  const path = file('{"a": 1}');
  // Syncing to the disk takes the most time; other programs may write meanwhile.
  const { fsyncSync } = fs;
  const setFsync = (sync: typeof fs.fsyncSync): void => {
    fs.fsyncSync = sync;
    syncBuiltinESMExports();
  };
  onTestFinished(() => setFsync(fsyncSync));
  setFsync((it) => {
    setFsync(fsyncSync);
    fsyncSync(it);
    writeFileSync(path, '{"b": 1}');
  });
  expect(editDocument(path, ADD).text).toBe('{"b": 1, "added": 1}');
  expect(readFileSync(path, 'utf8')).toBe('{"b": 1, "added": 1}');
});

test('keeps one lock per file in another directory, whatever path leads to the file', () => {
  const { home, project, write } = configPlace();
  const path = write(join(project, 'real', '.mcp.json'), '{}');
  symlinkSync('real', join(project, 'link'));
  mkdirSync(`${path}.lock`);
  const locks = join(home, 'locks');
  const seen = [path, join(project, 'link', '.mcp.json')].map((it, n) => {
    let names: string[] = [];
    const change = () => {
      names = readdirSync(locks);
      expect(readdirSync(dirname(path)).sort()).toEqual(['.mcp.json', '.mcp.json.lock']);
      return [{ path: ['n'], value: n }];
    };
    editDocument(it, change, { locks });
    return names;
  });
  expect(seen[0]).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.lock$/)]);
  expect(seen[1]).toEqual(seen[0]);
  expect(readdirSync(locks)).toEqual([]);
  expect(statSync(locks).mode & 0o777).toBe(0o700);
});

test('fails at once if something else is in the place of the lock', () => {
  const path = file('{"a": 1}');
  mkdirSync(`${path}.lock`);
  expect(() => editDocument(path, ADD)).toThrow(
    `${path} was not changed: ${path}.lock exists but is not a Toolplane lock file; move or remove it`,
  );
  expect(readdirSync(dirname(path)).sort()).toEqual(['.git', 'settings.json', 'settings.json.lock']);
});

test('concurrent processes lose no edit', async () => {
  const path = file('{\n  // ours\n}\n');
  const names = ['a', 'b', 'c', 'd'];
  const ends = names.map((who) => {
    const child = spawn(process.execPath, [fixture('add-members.ts'), path, who], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return once(child, 'exit');
  });
  expect((await Promise.all(ends)).map(([code]) => code)).toEqual([0, 0, 0, 0]);
  const text = readFileSync(path, 'utf8');
  const { mcpServers } = JSON.parse(text.replace('// ours', '')) as { mcpServers: object };
  const expected = names.flatMap((who) => Array.from({ length: 40 }, (_, n) => `${who}${n}`));
  expect(Object.keys(mcpServers).sort()).toEqual(expected.sort());
  expect(readdirSync(dirname(path)).sort()).toEqual(['.git', 'settings.json']);
}, 60_000);

test('a full disk leaves the file unchanged and no other files', () => {
  const path = file('{"a": 1}');
  // The limit of a file's size fails a write in the middle, as a full disk does.
  const command = `trap '' XFSZ; ulimit -f 8; exec '${process.execPath}' '${fixture('edit-once.ts')}' "$1" "$2"`;
  const { stdout } = spawnSync('sh', ['-c', command, 'sh', path, 'x'.repeat(50_000)], { encoding: 'utf8' });
  expect(stdout).toMatch(/^HostError: .*settings\.json was not changed: E/);
  expect(readFileSync(path, 'utf8')).toBe('{"a": 1}');
  expect(readdirSync(dirname(path)).sort()).toEqual(['.git', 'settings.json']);
});

test('a read-only directory leaves the file unchanged', () => {
  const path = file('{"a": 1}');
  chmodSync(dirname(dirname(path)), 0o755);
  chmodSync(path, 0o666);
  chmodSync(dirname(path), 0o555);
  const { stdout } = spawnSync(process.execPath, [fixture('edit-once.ts'), path, 'x', 'nobody'], {
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/^HostError: .*settings\.json was not changed: EACCES/);
  expect(readFileSync(path, 'utf8')).toBe('{"a": 1}');
  chmodSync(dirname(path), 0o755);
});
