import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { text, toolUse } from '../../../support/model-api/model-reply.ts';
import { AGENT } from '../../../support/setup/built-package.ts';
import { openAgentSandbox } from '../../support/agent-sandbox.ts';

test('the agent ends after its program died, even while a silent command runs', async () => {
  await using sandbox = await openAgentSandbox([
    toolUse('Bash', { command: 'echo on; sleep 300' }),
    text('never'),
  ]);
  const child = spawn(AGENT, ['--allowedTools', 'Bash'], {
    cwd: sandbox.cwd,
    env: sandbox.env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content: 'go' } })}\n`);
  // The call is reported before it runs.
  for await (const chunk of child.stdout) if (String(chunk).includes('"tool_use"')) break;
  child.stdout.destroy();
  child.stdin.destroy();
  await exited;
  expect(sandbox.api.requests).toHaveLength(1);
}, 20_000);
