import { spawn } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import { AgentClient, moduleServer, query, toolServer } from '../../../src/entry/index.ts';
import { fixture } from '../../cli/support/run-cli.ts';
import { collect } from '../../support/collect.ts';
import { gate } from '../../support/gate.ts';
import { after, text, toolUse } from '../../support/model-api/model-reply.ts';
import { toolResults } from '../../support/model-api/model-view.ts';
import { openCliSandbox } from '../../support/real-cli.ts';
import { gone, isAlive, realAgent } from './real-agent.ts';

// Every test starts a real agent, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** A server whose tool waits, and tells when it is entered and when its call is aborted. */
function waiting() {
  const entered = gate();
  const aborted = Promise.withResolvers<void>();
  const slow = toolServer('slow').tool('wait', 'Waits', {}, async (_, { signal }) => {
    signal.addEventListener('abort', () => aborted.resolve());
    await entered.pass();
  });
  return { slow, entered: entered.reached, aborted: aborted.promise };
}

test('an agent that is killed in a call fails the query at once with the reason, and nothing is left', async () => {
  await using world = await openCliSandbox([toolUse('mcp__slow__wait', {})]);
  const { slow, entered, aborted } = waiting();
  const running = query({
    prompt: 'Wait.',
    options: realAgent(world, { mcpServers: { slow }, allowedTools: ['mcp__slow'] }),
  });
  const reading = collect(running).then(
    () => undefined,
    (error: Error) => error,
  );
  const pid = (await running.initializationResult()).pid as number;
  await entered;
  const pending = running.mcpServerStatus().then(
    () => 'answered',
    () => 'failed',
  );
  const killedAt = performance.now();
  process.kill(pid, 'SIGKILL');
  expect(await reading).toMatchObject({
    code: 'process-exited',
    message: expect.stringContaining('Claude Code process terminated by signal SIGKILL'),
  });
  await aborted;
  expect(performance.now() - killedAt).toBeLessThan(5000);
  expect(['answered', 'failed']).toContain(await pending);
  await expect(running.setModel('x')).rejects.toMatchObject({ code: 'closed' });
  await gone(pid);
  expect(slow.instance.isConnected()).toBe(false);
});

test('close() in the middle of a call leaves no process: neither the agent nor the servers it started', async () => {
  await using world = await openCliSandbox([toolUse('mcp__module__pid', {}), toolUse('mcp__slow__wait', {})]);
  const { slow, entered, aborted } = waiting();
  const options = realAgent(world, {
    mcpServers: { slow, module: moduleServer(fixture('calc.ts')) },
    allowedTools: ['mcp__slow', 'mcp__module'],
  });
  const client = await AgentClient.open(options);
  const agentPid = (await client.initializationResult()).pid as number;
  await client.send('Wait.');
  await entered;
  const told = JSON.stringify(toolResults(world.api.requests[1]));
  const serverPid = Number(/"text":"(\d+)"/.exec(told)?.[1]);
  expect([isAlive(agentPid), isAlive(serverPid)]).toEqual([true, true]);
  await client.close();
  await aborted;
  expect(isAlive(agentPid)).toBe(false);
  await gone(serverPid);
});

test('leaving the loop leaves no process', async () => {
  await using world = await openCliSandbox(() => after(new Promise(() => {}), text('never')));
  const running = query({ prompt: 'Think.', options: realAgent(world, { closeGraceMs: 100 }) });
  for await (const message of running) if (message.type === 'system') break;
  await gone((await running.initializationResult()).pid as number);
});

test('a query that ended by itself leaves no process', async () => {
  await using world = await openCliSandbox([text('Done.')]);
  const running = query({ prompt: 'Go.', options: realAgent(world) });
  const { pid } = await running.initializationResult();
  await collect(running);
  await gone(pid as number);
});

test('a spawner of the user’s starts the real agent just as well', async () => {
  await using world = await openCliSandbox([toolUse('mcp__s__t', {}), text('Done.')]);
  const commands: string[] = [];
  const s = toolServer('s').tool('t', 'T', {}, () => 'ok');
  const options = realAgent(world, {
    mcpServers: { s },
    allowedTools: ['mcp__s'],
    spawnClaudeCodeProcess: ({ command, args, cwd, env, signal }) => {
      commands.push(command);
      return spawn(command, args, {
        cwd,
        env: env as NodeJS.ProcessEnv,
        signal,
        stdio: ['pipe', 'pipe', 'ignore'],
      });
    },
  });
  const messages = await collect(query({ prompt: 'Go.', options }));
  expect(messages.at(-1)).toMatchObject({ type: 'result', result: 'Done.' });
  expect(commands).toEqual([world.cli]);
});

test('an agent that cannot start says why', async () => {
  await using world = await openCliSandbox([]);
  const options = realAgent(world, { extraArgs: { 'mcp-config': './no-such-file.json' } });
  await expect(collect(query({ prompt: 'Go.', options }))).rejects.toMatchObject({
    code: 'process-exited',
    message: expect.stringMatching(/exited with code 1\. stderr: .*MCP config file not found/s),
  });
});
