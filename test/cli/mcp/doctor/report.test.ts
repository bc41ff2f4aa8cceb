import { expect, test } from 'vitest';
import { checkLive } from '../../../../src/cli/mcp/doctor/check-live.ts';
import { checked, report, reportText } from '../../../../src/cli/mcp/doctor/report.ts';
import { render } from '../../../../src/cli/terminal/render.ts';

import type { Configuration } from '../../../../src/config/configuration.ts';
import type { ConfiguredServer } from '../../../../src/config/model.ts';
import type { ToolChange } from '../../../../src/pool/pinning/tool-change.ts';

const textOf = (it: ReturnType<typeof report>) =>
  reportText(it).map((piece) => render(piece, { columns: 80, hasColors: false }));

test('the worst of what was found is what a thing is; warnings break nothing', () => {
  const well = checked('a', []);
  const odd = checked('b', [
    { check: 'x', level: 'ok', text: 'fine' },
    { check: 'y', level: 'warning', text: 'odd', fix: 'do this' },
  ]);
  const told = report([well], [odd, checked('c', [{ check: 'z', level: 'waiting', text: 'waits' }])]);
  expect(told).toMatchObject({ broken: 0, warnings: 1, waiting: 1 });
  expect(textOf(told)).toEqual([
    'files',
    '  ✓ a',
    '',
    'servers',
    '  ⚠ b',
    '    ⚠ odd',
    '      fix: do this',
    '  ⏸ c',
    '    ⏸ waits',
    '',
    '1 file and 2 servers looked at: 1 warning, 1 waiting for you.',
  ]);
});

const configuration = { context: { cwd: '/work', home: '/home/me/.toolplane' } } as Configuration;
const server: ConfiguredServer = {
  name: 'x',
  written: {
    name: 'x',
    scope: 'user',
    label: 'settings.json',
    raw: { command: 'node' },
    entry: { command: 'node' },
  },
  verdict: { kind: 'ready' },
  entry: { command: 'node' },
  settled: [],
  lost: [],
};
const status = { state: 'connected', since: 0, attempt: 1, stderr: [], tools: 2, era: 'legacy' } as const;
const live = { status, warnings: [], changes: [], tokens: 10, ms: 5 };

test('tools that changed and tools that cost much are warnings with a fix', () => {
  const change = { server: 'x', tool: 'drop', text: 'its description is another' } as unknown as ToolChange;
  const found = checkLive(configuration, server, {
    ...live,
    changes: [change],
    tokens: 30_000,
    warnings: [
      { message: 'tool "a" has no schema' },
      { message: 'banner', subject: { kind: 'stdout', output: 'Ready on stdio' } },
      { message: 'banner', subject: { kind: 'stdout', output: 'v1' } },
    ],
  });
  expect(found.map(({ check, level }) => [check, level])).toEqual([
    ['handshake', 'ok'],
    ['stdout', 'warning'],
    ['tools', 'warning'],
    ['cost', 'warning'],
    ['changed', 'warning'],
  ]);
  expect(found.at(-1)?.fix).toBe('if that is well: toolplane tools accept x drop');
  expect(found[1]).toMatchObject({
    text: 'non-protocol output on stdout: Ready on stdio (and 1 more)',
    fix: expect.stringContaining('log to stderr'),
  });
  expect(found[2]?.fix).toBe('report this to the server’s author');
  expect(found[3]).toMatchObject({
    text: expect.stringContaining('30,000 tokens'),
    fix: expect.stringContaining('includeTools'),
  });
});

test('the last words of a process are told unless the message has them', () => {
  const cause = {
    code: 'timeout',
    message: 'MCP server "x": it stayed silent',
    detail: 'it stayed silent',
  } as const;
  const [found] = checkLive(configuration, server, {
    ...live,
    status: { ...status, state: 'failed', cause, stderr: ['no key'] },
  });
  expect(found).toEqual({
    check: 'handshake',
    level: 'error',
    text: 'it stayed silent; it said: no key',
    fix: 'if it is only slow: set serverSettings.x.connectTimeoutMs (milliseconds) in your settings.json',
  });
});
