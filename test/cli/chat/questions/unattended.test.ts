import { expect, test } from 'vitest';
import { Unattended } from '../../../../src/cli/chat/questions/unattended.ts';
import type { PermissionUpdate } from '../../../../src/protocol/permission.ts';

const context = (suggestions?: PermissionUpdate[]) => ({
  signal: new AbortController().signal,
  toolUseID: 't1',
  requestId: 'r1',
  ...(suggestions && { suggestions }),
});
const suggest = (ruleContent: string, behavior: 'allow' | 'deny' = 'allow'): PermissionUpdate => ({
  type: 'addRules',
  rules: [{ toolName: 'Bash', ruleContent }],
  behavior,
  destination: 'session',
});

test('denies every call and lists each once, with the narrowest rule', async () => {
  const denied: string[] = [];
  const unasked = new Unattended((id, reason) => denied.push(`${id}: ${reason}`), expect.unreachable);
  expect(await unasked.canUseTool('mcp__a__b', {}, context())).toMatchObject({ behavior: 'deny' });
  await unasked.canUseTool('mcp__a__b', {}, context());
  await unasked.canUseTool('Bash', {}, context([suggest("echo 'x'"), suggest('rm', 'deny')]));
  await unasked.canUseTool('Bash', {}, context([suggest('ls:*')]));
  const { signal } = new AbortController();
  expect(
    await unasked.onElicitation({ serverName: 'crm', message: '?' }, { signal, requestId: 'r' }),
  ).toEqual({
    action: 'decline',
  });
  expect(unasked.lines).toEqual([
    "mcp__a__b was denied because this run is non-interactive; allow it with --allowedTools 'mcp__a__b'",
    "Bash was denied because this run is non-interactive; allow it with --allowedTools 'Bash(echo '\\''x'\\'')' --allowedTools 'Bash(ls:*)'",
    'server crm requested input, which was declined because this run is non-interactive',
  ]);
  expect(denied).toHaveLength(4);
});

test('a tool that no rule can allow is denied with the reason and, if it changed, the accept command', async () => {
  const unasked = new Unattended(() => {}, expect.unreachable);
  const changed =
    'the definition of mcp__s__find is not accepted; the tool changed since it was accepted: title none → "Two"';
  const remedy = 'to accept it: toolplane tools accept s find';
  const first = await unasked.canUseTool(
    'mcp__s__find',
    {},
    { ...context(), decisionReason: changed, toolChange: { server: 's', tool: 'find' } },
  );
  expect(first).toEqual({
    behavior: 'deny',
    message: `Permission required, but this run is non-interactive: ${changed}; ${remedy}`,
  });
  const person = { suppressAlwaysAllowRule: true, decisionReason: 'mcp__s__pay requires a person' };
  await unasked.canUseTool('mcp__s__pay', {}, { ...context([suggest('x')]), ...person });
  expect(unasked.lines).toEqual([
    `mcp__s__find was denied because this run is non-interactive: ${changed}; ${remedy}`,
    'mcp__s__pay was denied because this run is non-interactive: mcp__s__pay requires a person',
  ]);
});

test('waits for an answer of channels, and says so', async () => {
  const waiting: string[] = [];
  const unasked = new Unattended(expect.unreachable, (text) => waiting.push(text));
  const answered = new AbortController();
  const asked = { ...context(), signal: answered.signal, relayedTo: ['chat', 'phone'] };
  const decision = unasked.canUseTool('Bash', { command: 'ls\n  -la' }, asked);
  expect(waiting).toEqual(['waiting for an answer of channels chat, phone to: Bash ls -la']);
  answered.abort();
  expect(await decision).toMatchObject({ behavior: 'deny' });
  expect(unasked.lines).toEqual([]);
});
