import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findVersionFault, readDocument } from '../../../src/config/files/read-document.ts';
import { configPlace } from '../config-place.ts';

describe('readDocument', () => {
  function file(content: string | Uint8Array): string {
    const path = join(configPlace().project, 'settings.json');
    writeFileSync(path, content);
    return path;
  }

  test('reads a file with positions', async () => {
    const path = file('{\n  // servers\n  "mcpServers": {},\n}\n');
    const document = readDocument(path);
    expect(document).toMatchObject({ state: 'read', value: { mcpServers: {} }, warnings: [] });
    expect(document.state === 'read' && document.locate(['mcpServers'])).toEqual({ line: 3, column: 3 });
  });

  test.each(['', ' \r\n', '// nothing yet', '\uFEFF/* x */\n'])(
    'reads %j as an empty object',
    async (text) => {
      expect(readDocument(file(text))).toMatchObject({ state: 'read', value: {} });
    },
  );

  test('a missing file is absent, also below a file', async () => {
    const { project, write } = configPlace();
    const path = join(project, 'none', 'x.json');
    expect(readDocument(path)).toEqual({ state: 'absent' });
    const below = join(write(join(project, 'file'), ''), 'x.json');
    expect(readDocument(below)).toEqual({ state: 'absent' });
  });

  test.each([
    ['broken', '{"a": 1,\n "b"}', 'missing colon', { line: 2, column: 5 }],
    ['a list', ' []', 'must contain one JSON object, { … }', { line: 1, column: 2 }],
    ['a text', '"sk-hidden"', 'must contain one JSON object, { … }', { line: 1, column: 1 }],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'not valid UTF-8', undefined],
    ['UTF-16', Buffer.from('\uFEFF{}', 'utf16le'), 'not valid UTF-8', undefined],
  ])('reports a file that is %s', async (_, content, fault, position) => {
    const path = file(content);
    expect(readDocument(path)).toEqual({
      state: 'unusable',
      fault,
      ...(position && { position }),
    });
  });

  test('warns about a duplicate key with its position', async () => {
    expect(readDocument(file('{"mcpServers": {"x": 1,\n "x": 2}}'))).toMatchObject({
      state: 'read',
      value: { mcpServers: { x: 2 } },
      warnings: [
        {
          key: 'mcpServers.x',
          message: 'duplicate key in the same object; the later one is used; remove one',
          position: { line: 2, column: 2 },
        },
      ],
    });
  });

  test('does not read a file beyond the size limit', async () => {
    const path = file('{}');
    truncateSync(path, 10 * 2 ** 20);
    const fault = 'is larger than 8 MiB; the file is ignored';
    expect(readDocument(path)).toEqual({ state: 'unusable', fault });
  });

  test('reads a file below the size limit', async () => {
    const value = { text: 'x'.repeat(7 * 2 ** 20) };
    expect(readDocument(file(JSON.stringify(value)))).toMatchObject({ state: 'read', value });
  });

  test('refuses directories, pipes and devices without blocking', async () => {
    const { project } = configPlace();
    const pipe = join(project, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const faults = await Promise.all([project, pipe, '/dev/zero'].map((path) => readDocument(path)));
    expect(faults.map((it) => it.state === 'unusable' && it.fault)).toEqual([
      'is a directory, not a file',
      'not a regular file',
      'not a regular file',
    ]);
  });

  test('reports the error code of an unreadable file', async () => {
    // This path looks like a file, and reading from its beginning fails for every user.
    expect(readDocument('/proc/self/mem')).toMatchObject({
      state: 'unusable',
      fault: 'cannot be read (EIO)',
    });
  });

  test('reports missing permissions', () => {
    const { project, write } = configPlace();
    const path = write(join(project, 'mine.json'), '{}');
    execFileSync('chmod', ['000', path]);
    execFileSync('chmod', ['-R', 'o+x', join(project, '..')]);
    const reader = new URL('fixtures/read-as-nobody.ts', import.meta.url).pathname;
    const { stdout } = spawnSync(process.execPath, [reader, path], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual({
      state: 'unusable',
      fault: 'permission denied; change the permissions of the file',
    });
  });

  test('follows links, but not out of the given directory', async () => {
    const { project, userHome, write } = configPlace();
    const outside = write(join(userHome, 'outside.json'), { secret: 1 });
    const inside = write(join(project, 'inside.json'), { a: 1 });
    const [out, back, dangling, circle] = ['out', 'in', 'dangling', 'circle'].map((it) =>
      join(project, it),
    ) as [string, string, string, string];
    symlinkSync(outside, out);
    symlinkSync(inside, back);
    symlinkSync(join(project, 'nothing'), dangling);
    symlinkSync(circle, circle);
    symlinkSync(userHome, join(project, 'linked'));
    const read = async (path: string, within?: string) => {
      const document = readDocument(path, within === undefined ? {} : { within });
      return document.state === 'unusable' ? document.fault : document.state;
    };
    const leadsOut = `is a symbolic link to a path outside of ${project}; such links are not followed`;
    expect(await read(out)).toBe('read');
    expect(await read(out, project)).toBe(leadsOut);
    expect(await read(join(project, 'linked', 'outside.json'), project)).toBe(leadsOut);
    expect(await read(join(project, 'linked', 'absent.json'), project)).toBe(leadsOut);
    expect(await read(back, project)).toBe('read');
    expect(await read(dangling, project)).toBe('broken symbolic link');
    expect(await read(circle)).toBe('circular symbolic link');
  });

  test('accepts files of a directory that is itself behind a link', async () => {
    const { project, userHome, write } = configPlace();
    write(join(project, 'a.json'), {});
    symlinkSync(project, join(userHome, 'work'));
    const path = join(userHome, 'work', 'a.json');
    expect(readDocument(path, { within: join(userHome, 'work') }).state).toBe('read');
  });

  test('a file of a newer version is unusable', () => {
    expect(readDocument(file('{"old": 1}'), { version: 2 })).toMatchObject({ value: { old: 1 } });
    expect(readDocument(file('{\n"version": 3}'), { version: 2 })).toMatchObject({
      state: 'unusable',
      fault: 'has version 3, but this Toolplane supports versions up to 2; update Toolplane',
      position: { line: 2, column: 1 },
    });
  });

  test('tolerates a file that disappears at any time', async () => {
    const { project } = configPlace();
    const path = join(project, 'flickering.json');
    const script = `const fs = require('node:fs'); const until = Date.now() + 300;
    while (Date.now() < until) { fs.writeFileSync(process.argv[1], '{}'); fs.rmSync(process.argv[1]); }`;
    const child = spawn(process.execPath, ['-e', script, path], { stdio: 'ignore' });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const states = new Set<string>();
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver) {
      states.add(readDocument(path).state);
      await new Promise(setImmediate);
    }
    expect([...states].filter((state) => state !== 'read' && state !== 'absent')).toEqual([]);
  });

  test('project files have a lower size limit', async () => {
    const { project, write } = configPlace();
    const sized = (bytes: number) => write(join(project, 'x.json'), `{"a": "${'x'.repeat(bytes - 9)}"}`);
    expect(readDocument(sized(2 ** 20), { within: project })).toMatchObject({ state: 'read' });
    const path = sized(2 ** 20 + 1);
    const fault = 'is larger than 1 MiB; the file is ignored';
    expect(readDocument(path, { within: project })).toEqual({ state: 'unusable', fault });
    expect(readDocument(path)).toMatchObject({ state: 'read' });
  });

  test('escapes control characters in duplicate keys', async () => {
    const name = 'a\\u001b[2J\\u009b\\u202e\\n.b';
    expect(readDocument(file(`{"x": {"${name}": 1, "${name}": 2}}`))).toMatchObject({
      warnings: [{ key: 'x["a\\u001b[2J\\u009b\\u202e\\n.b"]' }],
    });
  });
});

describe('findVersionFault', () => {
  test.each([
    [4, 'has version 4, but this Toolplane supports versions up to 3; update Toolplane'],
    ['3', '"version" must be an integer from 1 to 3'],
    [0, '"version" must be an integer from 1 to 3'],
    [1.5, '"version" must be an integer from 1 to 3'],
    [null, '"version" must be an integer from 1 to 3'],
  ])('refuses version %j', (version, fault) => {
    expect(findVersionFault({ version }, 3)).toBe(fault);
  });

  test.each([{}, { version: 1 }, { version: 3 }])('accepts %j', (value) => {
    expect(findVersionFault(value, 3)).toBeUndefined();
  });
});
