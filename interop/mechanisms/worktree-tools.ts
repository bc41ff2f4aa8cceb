import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const bash = (command: string) => toolUse('Bash', { command, description: 'A command' });
const REMOVE = toolUse('ExitWorktree', { action: 'remove' });
const DISCARD = toolUse('ExitWorktree', { action: 'remove', discard_changes: true });
const KEEP = toolUse('ExitWorktree', { action: 'keep' });

/** The calls in a repository, in a directory that is none, and in one with hooks. */
const TURNS = [
  [
    REMOVE,
    toolUse('EnterWorktree', { name: 'fix/login' }),
    bash('pwd'),
    toolUse('EnterWorktree', { name: 'other' }),
    REMOVE,
    toolUse('EnterWorktree', { name: 'fix/login' }),
    bash('echo new > new.txt'),
    REMOVE,
    KEEP,
    bash('pwd'),
    toolUse('EnterWorktree', { path: '.claude/worktrees/fix+login' }),
    KEEP,
    toolUse('EnterWorktree', { name: 'fix/login' }),
    DISCARD,
    bash('git status --short; git worktree list --porcelain | grep -c worktree; git branch'),
  ],
  [toolUse('EnterWorktree', { name: 'w' })],
  [toolUse('EnterWorktree', { name: 'w' }), bash('pwd'), REMOVE, DISCARD, KEEP],
];

export const script = TURNS.flatMap((calls) => [...calls, text('Done.')]);

/** A session moves into a git worktree and back; it removes no work unless it is told to. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const [repository, plain, made] = ['repository', 'plain', 'made'].map((name) => {
    mkdirSync(join(sandbox.cwd, name));
    return join(sandbox.cwd, name);
  }) as [string, string, string];
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(repository, 'a.txt'), 'a\n');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '-m', 'first');
  const seen: unknown[] = [];
  const hook = async (input: object) => {
    const { hook_event_name, cwd, name, worktree_path } = input as Record<string, unknown>;
    seen.push({ hook_event_name, cwd, name, worktree_path });
    return hook_event_name === 'WorktreeCreate'
      ? { hookSpecificOutput: { hookEventName: 'WorktreeCreate' as const, worktreePath: made } }
      : {};
  };
  const hooks = { WorktreeCreate: [{ hooks: [hook] }], WorktreeRemove: [{ hooks: [hook] }] };
  for (const cwd of [repository, plain, 'hooked']) {
    const query = sdk.query({
      prompt: 'Use the tools.',
      options: {
        ...options(sandbox),
        cwd: cwd === 'hooked' ? plain : cwd,
        tools: ['Bash', 'EnterWorktree', 'ExitWorktree'],
        canUseTool: async (name, input) => {
          if (name !== 'Bash') seen.push({ asked: name });
          return { behavior: 'allow', updatedInput: input };
        },
        ...(cwd === 'hooked' && { hooks }),
      },
    });
    for await (const message of query) {
      if (message.type !== 'user' || typeof message.message.content === 'string') continue;
      const [block] = message.message.content;
      if (block?.type !== 'tool_result') continue;
      const { content, is_error = false } = block;
      seen.push({ content, is_error, result: message.tool_use_result });
    }
  }
  return seen;
}
