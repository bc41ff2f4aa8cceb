import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { projectFolder } from '../../../../src/agent/transcript/session-files.ts';
import { AgentClient } from '../../../../src/entry/index.ts';
import { toolServer } from '../../../../src/tool-server/sdk-server.ts';
import type { ConfigPlace } from '../../../config/config-place.ts';
import { startMessagesApi } from '../../../support/model-api/messages-api.ts';
import type { MessagesRequest } from '../../../support/model-api/messages-request.ts';
import { type Reply, text, together, toolUse } from '../../../support/model-api/model-reply.ts';

/**
 * A session in this process in which the model has used every feature that stores something: files with checkpoints,
 * long results and output, tasks, scheduled prompts, a sub-agent, a teammate, auto memory, a plan and a channel.
 */
export async function openFullSession({
  home,
  project,
  env,
}: ConfigPlace): Promise<{ readonly id: string; close(): Promise<void> }> {
  const memory = join(projectFolder(home, project), 'memory');
  const counts = new Map<Role, number>();
  const api = await startMessagesApi((request) => {
    const role = roleOf(request);
    const n = (counts.get(role) ?? 0) + 1;
    counts.set(role, n);
    return REPLIES[role](n, { memory, project, conversation: JSON.stringify(request.messages) });
  });
  onTestFinished(() => api.close());
  const news = toolServer('news', { channel: true }).tool('read', 'Reads the news', {}, () =>
    'news '.repeat(100_000),
  );
  const client = await AgentClient.open({
    cwd: project,
    env: {
      ...env,
      PATH: process.env.PATH ?? '',
      ANTHROPIC_API_KEY: 'dummy',
      ANTHROPIC_BASE_URL: api.url,
      CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
    },
    mcpServers: { news },
    channels: ['server:news'],
    agents: { helper: { description: 'helps', prompt: 'You are a helper.' } },
    permissionMode: 'acceptEdits',
    canUseTool: async (_, input) => ({ behavior: 'allow', updatedInput: input }),
    enableFileCheckpointing: true,
  });
  onTestFinished(() => client.close());
  const messages = client.messages();
  const nextResult = async () => {
    for (;;) {
      const { value } = await messages.next();
      if (!value || value.type === 'result') return value;
    }
  };
  await client.send('Use everything.');
  const result = await nextResult();
  // Starts a turn of the idle agent.
  await news.channel.send('deploy finished');
  await nextResult();
  return { id: result?.session_id ?? '', close: () => client.close() };
}

type Role = 'lead' | 'helper' | 'ada';
type Moment = { readonly memory: string; readonly project: string; readonly conversation: string };

function roleOf({ system, messages }: MessagesRequest): Role {
  const all = JSON.stringify([system, messages]);
  if (all.includes('You are a helper.')) return 'helper';
  return all.includes('You are “ada”') ? 'ada' : 'lead';
}

const AT = '0 0 29 2 *';

/** The n-th reply of each agent. */
const REPLIES: Readonly<Record<Role, (n: number, moment: Moment) => Reply>> = {
  helper: () => text('Helped.'),
  ada: (n) => (n === 1 ? toolUse('SendMessage', { to: 'main', message: 'Here.' }, 'here') : text('Idle.')),
  lead: (n, { memory, project, conversation }) => {
    if (n === 1) {
      const help = { description: 'help', prompt: 'Help.', subagent_type: 'helper' };
      return together(
        toolUse('Write', { file_path: join(project, 'a.txt'), content: 'a' }, 'file'),
        toolUse('Bash', { command: 'seq 1 20000' }, 'output'),
        toolUse('mcp__news__read', {}, 'result'),
        toolUse('TaskCreate', { subject: 'one', description: 'd' }, 'one'),
        toolUse('TaskCreate', { subject: 'two', description: 'd' }, 'two'),
        toolUse('CronCreate', { cron: AT, prompt: 'later', durable: true }, 'durable'),
        toolUse('CronCreate', { cron: AT, prompt: 'later' }, 'scheduled'),
        toolUse('Agent', { ...help, run_in_background: false }, 'help'),
      );
    }
    if (n === 2) {
      return together(
        toolUse('TaskUpdate', { taskId: '2', status: 'deleted' }, 'delete'),
        toolUse('Write', { file_path: join(memory, 'MEMORY.md'), content: '- [style](style.md)' }, 'index'),
        toolUse('Write', { file_path: join(memory, 'style.md'), content: 'Be brief.' }, 'note'),
        toolUse('Agent', { description: 'be ada', prompt: 'Be ada.', name: 'ada' }, 'team'),
        toolUse('SendMessage', { to: 'ada', message: 'Welcome.' }, 'welcome'),
        toolUse('EnterPlanMode', {}, 'enter'),
      );
    }
    const [, plan = ''] = /Plan file: (\S+\.md)/.exec(conversation) ?? [];
    return n === 3 ? toolUse('Write', { file_path: plan, content: '# Plan' }, 'plan') : text('Done.');
  },
};
