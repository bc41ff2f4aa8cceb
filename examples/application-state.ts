// Handlers read application state from `ctx.assigns`, set per attachment or for a whole query.
import assert from 'node:assert/strict';
import { attach, query, type ToolContext, toolServer } from 'toolplane';
import { z } from 'zod';
import { type Agent, openAgent, text, together, toolUse } from './agent.ts';

// #region server
type State = { list: string[] };

const todos = toolServer('todos')
  .tool('add', 'Add a to-do', { what: z.string() }, ({ what }, { assigns }: ToolContext<State>) => {
    assigns.list.push(what);
    return `${assigns.list.length} to do`;
  })
  .tool('list', 'List the to-dos', {}, (_, { assigns }: ToolContext<State>) => assigns.list);
// #endregion

/** One server, attached twice in one query, each time with its own state. */
async function perAttachment(agent: Agent): Promise<void> {
  // #region per-attachment
  const home: string[] = [];
  const work: string[] = [];
  const conversation = query({
    prompt: 'Add "buy tea" to my to-dos at home and "answer Ada" to those at work.',
    options: {
      ...agent.options,
      mcpServers: {
        home: attach(todos, { assigns: { list: home } }),
        work: attach(todos, { assigns: { list: work } }),
      },
      allowedTools: ['mcp__home', 'mcp__work'],
    },
  });
  for await (const _ of conversation);
  console.log({ home, work });
  // #endregion
  assert.deepEqual({ home, work }, { home: ['buy tea'], work: ['answer Ada'] });
}

/** The same server in another query: an attachment without state uses that of the query. */
async function perQuery(agent: Agent): Promise<void> {
  // #region per-query
  const list = ['water the plants'];
  const conversation = query({
    prompt: 'Add "sleep" to my to-dos.',
    options: { ...agent.options, mcpServers: { todos }, assigns: { list }, allowedTools: ['mcp__todos'] },
  });
  for await (const _ of conversation);
  console.log({ list });
  // #endregion
  assert.deepEqual(list, ['water the plants', 'sleep']);
}

await using twice = await openAgent([
  together(toolUse('mcp__home__add', { what: 'buy tea' }), toolUse('mcp__work__add', { what: 'answer Ada' })),
  text('Both are noted.'),
]);
await using once = await openAgent([toolUse('mcp__todos__add', { what: 'sleep' }), text('Noted.')]);
await perAttachment(twice);
await perQuery(once);

// #region concurrent
const people = { ada: [] as string[], bob: [] as string[] };
await Promise.all(
  Object.entries(people).map(async ([person, list]) => {
    await using agent = await openAgent([
      toolUse('mcp__todos__add', { what: `call ${person}` }),
      text('Done.'),
    ]);
    const options = {
      ...agent.options,
      mcpServers: { todos },
      assigns: { list },
      allowedTools: ['mcp__todos'],
    };
    for await (const _ of query({ prompt: `Add "call ${person}" to my to-dos.`, options }));
  }),
);
console.log(people);
// #endregion
assert.deepEqual(people, { ada: ['call ada'], bob: ['call bob'] });
