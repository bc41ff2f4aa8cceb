import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const agent = (isolation?: 'worktree') =>
  toolUse('Agent', {
    description: 'a task',
    prompt: 'Do it.',
    subagent_type: 'worker',
    ...(isolation && { isolation }),
  });

export const script = [
  agent('worktree'),
  toolUse('Bash', { command: 'pwd; git branch --show-current', description: 'Where' }),
  text('Nothing.'),
  agent('worktree'),
  toolUse('Write', { file_path: 'new.txt', content: 'new' }),
  text('Written.'),
  text('Done.'),
];

/** An isolated sub-agent works in a worktree, which stays only with changes; the result names it then. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: sandbox.cwd, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(sandbox.cwd, 'a.txt'), 'a\n');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '-m', 'first');
  const hooked: unknown[] = [];
  const written: unknown[] = [];
  const results: unknown[] = [];
  const listen = [
    {
      hooks: [
        async (input: { hook_event_name: string; cwd: string }) => {
          hooked.push([input.hook_event_name, input.cwd]);
          return {};
        },
      ],
    },
  ];
  const query = sdk.query({
    prompt: 'Delegate.',
    options: {
      ...options(sandbox),
      env: { ...sandbox.env, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
      tools: ['Agent', 'Bash', 'Write'],
      agents: { worker: { description: 'Works', prompt: 'You work.' } },
      canUseTool: async (name, input) => {
        if (name === 'Write') written.push(input);
        return { behavior: 'allow', updatedInput: input };
      },
      hooks: { SubagentStart: listen, SubagentStop: listen },
    },
  });
  for await (const message of query) {
    if (message.type === 'user' && message.parent_tool_use_id === null) {
      const { status, worktreePath, worktreeBranch } = message.tool_use_result as Record<string, unknown>;
      const lines = JSON.stringify(message.message.content).match(/worktree(?:Path|Branch): [^\\]+/g);
      results.push({ status, worktreePath, worktreeBranch, lines });
    }
  }
  const folder = join(sandbox.cwd, '.claude/worktrees');
  const left = readdirSync(folder).map((name) => existsSync(join(folder, name, 'new.txt')));
  const branches = git('branch', '--format=%(refname:short)').trim().split('\n');
  const where = sandbox.api.requests.flatMap(toolResults).find(({ id }) => id === 'toolu_0002_0')?.content;
  // The ids of agents are random.
  return JSON.parse(
    JSON.stringify({ hooked, written, results, left, branches, where }).replaceAll(
      /agent-a\w{16}/g,
      'agent-<id>',
    ),
  );
}
