import { text } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = () => text('Done.');

const TODOS = { CLAUDE_CODE_ENABLE_TASKS: '0' };
const OLDER = { model: 'claude-haiku-4-5' };

const CASES: readonly [name: string, options: object, env?: Record<string, string>][] = [
  ['a newer model', {}],
  ['an older model', OLDER],
  ['opus 4.7', { model: 'claude-opus-4-7' }],
  ['opus 4.8', { model: 'claude-opus-4-8' }],
  ['an older model with todos', OLDER, TODOS],
  ['a newer model with todos', {}, TODOS],
  ['an allowed task tool', { allowedTools: ['TaskGet'] }],
  ['allowed todos', { allowedTools: ['TodoWrite'] }],
  ['allowed todos instead of tasks', { allowedTools: ['TodoWrite'] }, TODOS],
  ['one named tool', { tools: ['TaskGet', 'TodoWrite'] }],
  ['one named tool with todos', { tools: ['TaskGet', 'TodoWrite'] }, TODOS],
];

/** Which sessions are offered the tools for lists. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const offered: Record<string, unknown> = {};
  for (const [name, given, env] of CASES) {
    const { tools: _, ...common } = options(sandbox);
    const query = sdk.query({
      prompt: 'Go.',
      options: { ...common, env: { ...sandbox.env, ...env }, ...given },
    });
    for await (const message of query) {
      if (message.type !== 'system' || message.subtype !== 'init') continue;
      offered[name] = message.tools.filter((tool) => /^(Task(Create|Get|List|Update)|TodoWrite)$/.test(tool));
    }
  }
  return offered;
}
