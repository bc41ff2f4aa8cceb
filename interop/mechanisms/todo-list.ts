import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

type Item = readonly [content: string, status: string];

function todos(...items: Item[]) {
  return toolUse('TodoWrite', {
    todos: items.map(([content, status]) => ({ content, status, activeForm: `${content}ing` })),
  });
}

const REPLIES = [
  todos(['A', 'pending'], ['B', 'in_progress']),
  todos(['A', 'completed'], ['B', 'completed']),
  todos(['C', 'pending'], ['D', 'completed']),
  ...Array.from({ length: 21 }, () => toolUse('Glob', { pattern: '*.none' })),
  text('Done.'),
  todos(['E', 'pending']),
  text('Done.'),
];

export const script = (_: unknown, n: number) => REPLIES[n - 1] ?? text('Done.');

/** The todo list: its results, the reminders to use it, and that a resumed session has the list. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const results: unknown[] = [];
  const ask = async (resume?: string): Promise<string> => {
    let session = '';
    const query = sdk.query({
      prompt: 'Go.',
      options: {
        ...options(sandbox),
        ...(resume !== undefined && { resume }),
        env: { ...sandbox.env, CLAUDE_CODE_ENABLE_TASKS: '0' },
        tools: ['TodoWrite', 'TaskCreate', 'Glob'],
      },
    });
    for await (const message of query) {
      session = message.session_id ?? session;
      if (message.type === 'user' && hasTodos(message.tool_use_result)) results.push(message.tool_use_result);
      if (message.type === 'system' && message.subtype === 'init') results.push(message.tools);
    }
    return session;
  };
  await ask(await ask());
  const reminded = sandbox.api.requests.flatMap(({ messages }, at) => {
    const latest = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
    const said = JSON.stringify(latest);
    return /reminder>.*TodoWrite/.test(said)
      ? [[at + 1, /1\. \[pending\] C.*2\. \[completed\] D/.test(said)]]
      : [];
  });
  return { results, reminded };
}

function hasTodos(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'newTodos' in result;
}
