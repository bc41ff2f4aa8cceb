// Decide about tool calls with hooks, rules and a callback; undecided calls are denied.
import assert from 'node:assert/strict';
import { type CanUseTool, type HookCallback, type Options, query, toolServer } from 'toolplane';
import { z } from 'zod';
import { openAgent, text, toolUse } from './agent.ts';

const sent: string[] = [];
const mail = toolServer('mail')
  .tool('send', 'Send a mail', { to: z.string(), body: z.string() }, ({ to, body }) => {
    sent.push(`${to}: ${body}`);
    return 'sent';
  })
  .tool('erase_all', 'Erase every mail', {}, () => 'erased');

const log: string[] = [];

// #region can-use-tool
const canUseTool: CanUseTool = async (toolName, input) => {
  log.push(`asked about ${toolName} to ${input.to}`);
  if (input.to === 'everyone@example.org') return { behavior: 'deny', message: 'Write to one person only.' };
  if (input.to === 'ada@example.org') return { behavior: 'allow' };
  return { behavior: 'allow', updatedInput: { ...input, to: 'review@example.org' } };
};
// #endregion

// #region hooks
const denyDeletion: HookCallback = async (input) => {
  log.push(`PreToolUse ${input.hook_event_name === 'PreToolUse' && input.tool_name}`);
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'Deleting mail is not allowed.',
    },
  };
};

const audit: HookCallback = async (input, toolUseId) => {
  if (input.hook_event_name === 'PostToolUse')
    log.push(`PostToolUse ${input.tool_name} (${typeof toolUseId} id)`);
  return {};
};

const hooks: Options['hooks'] = {
  PreToolUse: [{ matcher: 'mcp__mail__erase_all', hooks: [denyDeletion], timeout: 10 }],
  PostToolUse: [{ hooks: [audit] }],
};
// #endregion

await using agent = await openAgent([
  toolUse('mcp__mail__erase_all', {}),
  toolUse('mcp__mail__send', { to: 'everyone@example.org', body: 'Hi' }),
  toolUse('mcp__mail__send', { to: 'bob@example.org', body: 'Hi' }),
  toolUse('mcp__mail__send', { to: 'ada@example.org', body: 'Hi' }),
  text('Two mails were sent.'),
]);

// #region query
const conversation = query({
  prompt: `Use each tool once, in this order, and continue after failures: delete all mail, then send "Hi" to
    everyone@example.org, to bob@example.org and to ada@example.org.`,
  options: {
    ...agent.options,
    mcpServers: { mail },
    canUseTool,
    hooks,
    onToolUse: ({ name, isError, result }) => {
      if (isError) log.push(`refused ${name}: ${JSON.stringify(result)}`);
    },
  },
});
for await (const _ of conversation);
// #endregion

for (const line of log) console.log(line);
console.log({ sent });
assert.deepEqual(sent, ['review@example.org: Hi', 'ada@example.org: Hi']);
assert.ok(log.includes('PreToolUse mcp__mail__erase_all'));
assert.equal(log.filter((line) => line.startsWith('PostToolUse mcp__mail__send')).length, 2);
