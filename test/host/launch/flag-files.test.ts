import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadFlagFiles } from '../../../src/host/launch/flag-files.ts';
import { EMPTY_SETTINGS } from '../../../src/host/launch/read-settings.ts';

async function directory(files: Record<string, string> = {}): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'launch-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  for (const [name, content] of Object.entries(files)) await writeFile(join(cwd, name), content);
  return cwd;
}

const config = (mcpServers: object) => JSON.stringify({ mcpServers });

test('without files there is nothing', async () => {
  expect(await loadFlagFiles({}, '/nowhere')).toEqual({
    servers: {},
    settings: EMPTY_SETTINGS,
    managed: EMPTY_SETTINGS,
    faults: [],
    notes: [],
  });
});

test('texts and files, relative to the working directory; of one key the later counts', async () => {
  const cwd = await directory({
    'servers.json': config({ a: { command: 'from-file' }, b: { command: 'b' } }),
    'settings.json': '{ "model": "m", "theme": "dark" }',
    'prompt.md': 'Be kind.',
    'more.md': 'Be brief.',
  });
  const flags = {
    mcpConfigs: [config({ a: { command: 'from-text' } }), './servers.json'],
    settings: 'settings.json',
    managedSettings: { permissions: { deny: ['Bash'] } },
    systemPromptFile: 'prompt.md',
    appendSystemPromptFile: join(cwd, 'more.md'),
  };
  expect(await loadFlagFiles(flags, cwd)).toEqual({
    servers: { a: { command: 'from-file' }, b: { command: 'b' } },
    settings: { ...EMPTY_SETTINGS, model: 'm' },
    managed: { ...EMPTY_SETTINGS, rules: [{ tool: 'Bash', effect: 'deny', source: 'policySettings' }] },
    systemPrompt: 'Be kind.',
    appendSystemPrompt: 'Be brief.',
    faults: [],
    notes: ['--settings settings.json: "theme" is not used'],
  });
});

test('every file that cannot be read is a fault', async () => {
  const cwd = await directory({ 'broken.json': '{', 'list.json': '[]' });
  const flags = {
    mcpConfigs: ['none.json', 'broken.json', '{"mcpServers":{"a":{"command":1}}}', '[1]'],
    settings: 'list.json',
    systemPromptFile: 'none.md',
  };
  expect((await loadFlagFiles(flags, cwd)).faults).toEqual([
    '--mcp-config none.json cannot be read (ENOENT)',
    '--mcp-config broken.json is no JSON object',
    '--mcp-config: mcpServers["a"]: a stdio server needs "command", a non-empty string',
    '--mcp-config is no JSON object',
    '--settings list.json is no JSON object',
    '--system-prompt-file none.md cannot be read (ENOENT)',
  ]);
});

test.each(['"env":{"TOKEN":"hush"}', '{"env":{"TOKEN":"hush"}', 'TOKEN=hush', `hush${'x'.repeat(300)}`])(
  '%s is no path and may be a secret: it is not shown',
  async (settings) => {
    const { faults } = await loadFlagFiles({ settings }, await directory());
    expect(faults).toHaveLength(1);
    expect(faults[0]).not.toContain('hush');
  },
);
