import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { leftText } from '../../../src/cli/mcp/remove.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { serverRecord } from '../../../src/config/explain/server-record.ts';
import { localFile, mcpPlace, projectFile, userFile } from '../support/mcp-place.ts';

describe('remove', () => {
  test('removes the entry, keeps everything else in the file, and reports the active entry', async () => {
    const place = mcpPlace();
    place.write(userFile(place), { mcpServers: { x: { command: 'lower' } } });
    place.write(
      projectFile(place),
      '{\n  // ours\n  "mcpServers": { "x": { "command": "run" }, "y": { "command": "y" } }\n}\n',
    );
    const which = await place.mcp('rm', 'x', '--json');
    expect(which.code).toBe(2);
    expect(JSON.parse(which.stdout).error.message).toBe(
      '"x" is in 2 scopes; select one: --scope project (.mcp.json), --scope user (~/.toolplane/settings.json)',
    );
    const removed = await place.mcp('remove', 'x', '-s', 'project');
    expect(removed).toMatchObject({ code: 0, stderr: '' });
    expect(removed.stdout).toMatch(
      /^removed x \(stdio: run\) from project, \.mcp\.json:3:\d+\n {2}the entry in user, ~\/\.toolplane\/settings\.json:\d+:\d+ \(stdio: lower\) is active\n$/,
    );
    const text = readFileSync(projectFile(place), 'utf8');
    expect(text).toContain('// ours');
    expect(text).toContain('"y"');
    expect(text).not.toContain('"x"');
    const last = await place.mcp('remove', 'x', '--json');
    expect(JSON.parse(last.stdout)).toEqual({
      removed: {
        name: 'x',
        scope: 'user',
        label: '~/.toolplane/settings.json',
        path: userFile(place),
        position: expect.anything(),
      },
    });
  });

  test('removes a broken entry; refuses unknown names and entries of plugins', async () => {
    const place = mcpPlace();
    place.write(localFile(place), { mcpServers: { bad: { command: 3 } } });
    place.write(userFile(place), {
      mcpServers: { x: { command: 'x' } },
      plugins: [
        place
          .write(`${place.home}/plug/.mcp.json`, { mcpServers: { p: { command: 'p' } } })
          .replace('/.mcp.json', ''),
      ],
    });
    const [bad, typo, scope, plugin] = await Promise.all([
      place.mcp('remove', 'bad'),
      place.mcp('remove', 'bda'),
      place.mcp('remove', 'x', '-s', 'local'),
      place.mcp('remove', 'p'),
    ]);
    expect(bad).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no other entry has the name "bad"'),
    });
    expect(typo).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown server "bda"') });
    expect(scope).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no server "x" in scope local; it is in user, /),
    });
    expect(plugin).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"p" cannot be removed with this command: it is defined in plugin, /),
    });
  });
});

test.each([
  ['no entry has the name', undefined, 'no other entry has the name "x"'],
  ['another entry is active', { kind: 'ready' }, 'the entry in local, /a (stdio: run) is active'],
  [
    'a rejected entry has the name',
    { kind: 'rejected' },
    'the name now refers to the entry in local, /a (stdio: run): rejected; to undo: toolplane mcp approve x',
  ],
  [
    'a disabled entry has the name',
    { kind: 'disabled', label: 's' },
    'the name now refers to the entry in local, /a (stdio: run): disabled in s',
  ],
] as const)('if %s after the removal, the answer says so', async (_, verdict, text) => {
  const written = { name: 'x', scope: 'local', label: '/a', path: '/a', raw: { command: 'run' } } as const;
  const servers = verdict ? [{ name: 'x', written, verdict, settled: [], lost: [] }] : [];
  const configuration = await readConfiguration(mcpPlace().world());
  const merged = { servers, lost: [], faults: [] };
  expect(leftText(serverRecord({ ...configuration, merged }, 'x'))).toBe(text);
});
