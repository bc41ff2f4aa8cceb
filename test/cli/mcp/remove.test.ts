import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { leftText } from '../../../src/cli/mcp/remove.ts';
import type { ConfiguredServer, Verdict } from '../../../src/config/model.ts';
import { localFile, mcpPlace, projectFile, userFile } from '../support/mcp-place.ts';

describe('remove', () => {
  test('the entry goes, everything else in the file stays, and it is said what counts', async () => {
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
      /^removed x \(stdio: run\) from project, \.mcp\.json:3:\d+\n {2}the entry in user, ~\/\.toolplane\/settings\.json:\d+:\d+ \(stdio: lower\) is still active\n$/,
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

  test('a broken entry can be removed; what is not there, or nobody here may remove, is told', async () => {
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
      stdout: expect.stringContaining('no server is named "bad" now'),
    });
    expect(typo).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown server "bda"') });
    expect(scope).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no server "x" in scope local; it is in user, /),
    });
    expect(plugin).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/"p" cannot be removed here: it comes from plugin, /),
    });
  });
});

describe('left text', () => {
  function having(path?: string, verdict: Verdict = { kind: 'ready' }) {
    const written = { name: 'x', scope: 'local', label: `${path}`, raw: { command: 'run' } } as const;
    const server: ConfiguredServer = {
      name: 'x',
      written: { ...written, path: `${path}` },
      verdict,
      settled: [],
      lost: [],
    };
    return { merged: { servers: path === undefined ? [] : [server], lost: [], faults: [] } };
  }

  test.each([
    [
      'another one has the name',
      having('/a'),
      having('/b'),
      'the entry in local, /b (stdio: run) is now active',
    ],
    [
      'the one that has it stays',
      having('/a'),
      having('/a'),
      'the entry in local, /a (stdio: run) is still active',
    ],
    ['nothing is left', having('/a'), having(), 'no server is named "x" now'],
    [
      'one that does not count stays',
      having('/a', { kind: 'rejected' }),
      having('/a', { kind: 'rejected' }),
      'the entry in local, /a (stdio: run) still has the name: rejected; to undo: toolplane mcp approve x',
    ],
    [
      'another one has it and is off',
      having('/b'),
      having('/a', { kind: 'disabled', label: 's' }),
      'the entry in local, /a (stdio: run) now has the name: disabled in s',
    ],
  ])('where %s, that is said', (_, before, after, text) => {
    expect(leftText(before, after, 'x')).toBe(text);
  });
});
