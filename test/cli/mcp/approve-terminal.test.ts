import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CTRL_C, CTRL_D } from '../chat/fake-terminal.ts';
import { hasScript } from '../terminal-process.ts';
import { type McpPlace, marker, mcpPlace, mcpTerminal, projectFile } from './mcp-place.ts';

const CHOICES = 'choices.json';

/** What was decided, by name. */
function choices(place: McpPlace): Record<string, string> {
  const file = place.json(join(place.home, CHOICES)) as { servers: { name: string; choice: string }[] };
  return Object.fromEntries(file.servers.map(({ name, choice }) => [name, choice]));
}

function project(place: McpPlace): string {
  const ran = join(place.project, 'ran');
  place.write(projectFile(place), {
    mcpServers: { a: marker(ran), b: { url: 'https://b.test/${TOKEN}' }, c: { command: 'c' } },
  });
  return ran;
}

test.runIf(hasScript)(
  'in a real terminal: one is approved, one rejected, one skipped, and none is started',
  async () => {
    const place = mcpPlace();
    const ran = project(place);
    place.write(join(place.project, '.toolplane', 'settings.json'), {
      permissions: { allow: ['Bash(make *)'] },
    });
    const terminal = mcpTerminal(place, ['approve']);
    const first = await terminal.until('approve? ');
    expect(first).toMatch(/server .*a.* of project, \.mcp\.json:\d+:\d+/);
    expect(first).toContain(JSON.stringify(process.execPath));
    expect(first).toContain('writeFileSync');
    terminal.type('y\r');
    expect(await terminal.until('approve? ')).toContain('"url": "https://b.test/${TOKEN}"');
    terminal.type('n\r');
    await terminal.until('approve? ');
    terminal.type('s\r');
    expect(await terminal.until('approve? ')).toContain('Bash(make *)');
    terminal.type('y\r');
    await terminal.until('approved the settings of .toolplane/settings.json');
    expect(await terminal.closed).toEqual([0, null]);
    expect(choices(place)).toEqual({ a: 'approved', b: 'rejected' });
    expect(existsSync(ran)).toBe(false);
  },
  30_000,
);

test.runIf(hasScript)(
  'in a real terminal: trust is said in words and asked for again',
  async () => {
    const place = mcpPlace();
    project(place);
    const terminal = mcpTerminal(place, ['approve']);
    await terminal.until('approve? ');
    terminal.type('t\r');
    expect(await terminal.until('trust all of it? (yes or no) ')).toContain(
      `every server, hook, allow rule and variable in ${place.project}, now and after every pull, will count without a question`,
    );
    terminal.type('yes\r');
    await terminal.until('trusted: ');
    expect(await terminal.closed).toEqual([0, null]);
    expect(place.json(join(place.home, CHOICES))).toMatchObject({
      servers: [],
      trusted: [{ path: place.project }],
    });
  },
  30_000,
);

test.runIf(hasScript).each([
  ['Ctrl-C', CTRL_C, 130],
  ['the end of the input', CTRL_D, 1],
])(
  'in a real terminal: %s after an answer leaves everything as it was',
  async (_, key, code) => {
    const place = mcpPlace();
    project(place);
    const terminal = mcpTerminal(place, ['approve']);
    await terminal.until('approve? ');
    terminal.type('y\r');
    await terminal.until('approve? ');
    terminal.type(key);
    await terminal.until('nothing was decided');
    expect(await terminal.closed).toEqual([code, null]);
    expect(existsSync(join(place.home, CHOICES))).toBe(false);
  },
  30_000,
);

test.runIf(hasScript)(
  'what is approved is what was shown, also if the file changes meanwhile',
  async () => {
    const place = mcpPlace();
    place.write(projectFile(place), { mcpServers: { a: { command: 'good' } } });
    const terminal = mcpTerminal(place, ['approve']);
    await terminal.until('approve? ');
    writeFileSync(projectFile(place), JSON.stringify({ mcpServers: { a: { command: 'evil' } } }));
    terminal.type('y\r');
    await terminal.closed;
    expect(await place.mcp('list', '--no-connect')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^⏸ a .* changed since you approved it/),
      stderr: '',
    });
  },
  30_000,
);
