import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sdkDeps } from '../../src/entry/sdk-deps.ts';
import { VERSION } from '../../src/entry/version.ts';

const source = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));

/** A program with a scripted agent that runs in its own process, so that the test can read its output. */
const PROGRAM = `
  const { query } = await import(${source('../../src/entry/index.ts')});
  const { scriptAgent } = await import(${source('../../src/entry/testing.ts')});
  for (let n = 0; n < 2; n++) {
    const agent = scriptAgent(async (it) => { await it.start(); await it.prompt(); it.result('done'); });
    for await (const _ of query({ prompt: 'token=hush', options: { link: agent.link, mcpConfig: '/x.json', modle: 'm' } }));
  }`;

async function run(env: Record<string, string>): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM], { env });
}

test('dependencies of the SDK', () => {
  const world = sdkDeps();
  expect(world.version).toBe(VERSION);
  expect(world.environment()).toEqual({ ...process.env });
  expect(world.environment()).not.toBe(process.env);
});

test('a warning is emitted once as a process warning (R13)', async () => {
  const { stdout, stderr } = await run({});
  expect(stdout).toBe('');
  expect(stderr.match(/TOOLPLANE_MCP_CONFIG_DEPRECATED/g)).toHaveLength(1);
  expect(stderr).toMatch(
    /\[TOOLPLANE_MCP_CONFIG_DEPRECATED\] ToolplaneWarning: options\.mcpConfig is deprecated/,
  );
  expect(
    stderr.match(/ToolplaneWarning: options\.modle is not an option.*did you mean "model"\?/g),
  ).toHaveLength(1);
});

test.each(['frames', '1', 'true', '*', 'other, frames'])(
  'TOOLPLANE_DEBUG=%s prints frames to stderr, secrets masked',
  async (word) => {
    const { stdout, stderr } = await run({ TOOLPLANE_DEBUG: word });
    expect(stdout).toBe('');
    expect(stderr).toContain('[toolplane] > {"request_id"');
    expect(stderr).toContain('[toolplane] < {"type":"result"');
    expect(stderr).toContain('token=[redacted]');
    expect(stderr).not.toContain('hush');
  },
);

test.each(['', '0', 'other'])('TOOLPLANE_DEBUG=%j prints none', async (word) => {
  expect((await run({ TOOLPLANE_DEBUG: word })).stderr).not.toContain('[toolplane]');
});
