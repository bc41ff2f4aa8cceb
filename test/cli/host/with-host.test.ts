import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configPlace } from '../../config/config-place.ts';
import { EVERYTHING } from '../support/real-servers.ts';
import { runCli } from '../support/run-cli.ts';
import { hasScript, TerminalProcess } from '../support/terminal-process.ts';

/** A project with one published server that lists tools depending on client capabilities. */
function place() {
  const made = configPlace();
  made.write(join(made.home, 'settings.json'), JSON.stringify({ mcpServers: { everything: EVERYTHING } }));
  const toolplane = (...args: string[]) => runCli(args, '', { cwd: made.project, env: { ...made.env } });
  return {
    ...made,
    toolplane,
    document: async (...args: string[]) => JSON.parse((await toolplane(...args)).stdout),
  };
}

test('every command shows the tools and costs of a session', async () => {
  const session = await place().toolplane(
    'run',
    '-m',
    'rehearsal',
    '--output-format',
    'stream-json',
    'list tools',
  );
  const init = JSON.parse(session.stdout.split('\n')[0] as string) as { tools: string[] };
  const offered = init.tools.filter((name) => name.startsWith('mcp__everything__'));
  expect(offered).toContain('mcp__everything__get-roots-list');
  expect(offered).toContain('mcp__everything__trigger-elicitation-request');

  const { document } = place();
  const [tools, listed, doctor, explained, tool] = await Promise.all([
    document('tools', '--json'),
    document('mcp', 'list', '--json'),
    document('mcp', 'doctor', '--json'),
    document('explain', 'server', 'everything', '--json'),
    document('explain', 'tool', 'everything', 'get-roots-list', '--json'),
  ]);
  expect(tools.servers[0].tools.map((it: { pooledName: string }) => it.pooledName).sort()).toEqual(
    offered.sort(),
  );
  expect({
    tools: tools.totals.tools,
    list: listed.servers[0].tools,
    doctor: doctor.servers[0].tools,
    explain: explained.connection.tools,
  }).toEqual({
    tools: offered.length,
    list: offered.length,
    doctor: offered.length,
    explain: offered.length,
  });
  expect(doctor.servers[0].tokens).toBe(tools.totals.tokens);
  const priced = tools.servers[0].tools.find((it: { name: string }) => it.name === 'get-roots-list');
  expect(tool.tokens).toBe(priced.tokens);
});

test('toolplane call offers the workspace as the only root', async () => {
  const { toolplane, project } = place();
  const { code, stdout } = await toolplane('call', 'everything', 'get-roots-list');
  expect(code).toBe(0);
  expect(stdout).toContain(`file://${project}`);
});

test('toolplane call declines elicitation without a terminal, and reports it on stderr', async () => {
  const { code, stdout, stderr } = await place().toolplane(
    'call',
    'everything',
    'trigger-elicitation-request',
  );
  expect(code).toBe(0);
  expect(stdout).toContain('"action": "decline"');
  expect(stderr).toMatch(
    /^toolplane: server everything: input request declined because stdin and stderr are not a terminal; message: .*\n$/,
  );
});

test.runIf(hasScript)('toolplane call asks on a terminal', async () => {
  const { project, env } = place();
  const call = ['call', 'everything', 'trigger-url-elicitation', 'url=https://example.com/form'];
  const terminal = new TerminalProcess(call, { ...env }, undefined, project);
  await terminal.until('Server everything requests input: ');
  await terminal.until('host: example.com');
  await terminal.until('open this address in your browser? (y or n) ');
  terminal.type('y\n');
  await terminal.until('"action": "accept"');
  await terminal.closed;
});
