import { truncate } from '../../base/text/display-text.ts';
import { failedOutcome } from '../loop/run-calls.ts';
import { defineBuiltIn, type FoundTools } from './built-in.ts';

const FEW = 5;
const MOST = 20;
/** What is said of a tool before it is loaded: its definition follows in the next round anyway. */
const LONGEST_DESCRIPTION = 160;

export const TOOL_SEARCH = defineBuiltIn({
  name: 'ToolSearch',
  description:
    'Finds and loads deferred tools of connected servers; their definitions are available from your next message on. ' +
    'Describe the task in a few words, in any language, or name tools: ' +
    '"select:mcp__github__create_issue,mcp__github__list_issues". "server:github" searches one server, "+word" requires ' +
    'the word, "readonly:true" and "destructive:false" require that annotation; filters without words list by name.',
  annotations: { title: 'Search for tools', readOnlyHint: true, openWorldHint: false },
  required: {
    query: { type: 'string', minLength: 1, description: 'What is to be done, or "select:" and names.' },
  },
  optional: {
    max_results: {
      type: 'integer',
      minimum: 1,
      maximum: MOST,
      description: `How many tools to load at most; ${FEW} when left out.`,
    },
  },
  async run({ query, max_results: limit = FEW }, world, signal) {
    const found = await world.findTools(query, limit, signal);
    const matches = found.tools.map(({ name }) => name);
    const told = { matches, query, total_deferred_tools: found.searchable };
    if (matches.length === 0) return { ...failedOutcome(nothing(found)), programResult: told };
    return { content: [said(found), ...unknown(found)].join('\n'), isError: false, programResult: told };
  },
});

function said({ tools }: FoundTools): string {
  const lines = tools.map(
    ({ name, description, isTold }) => `- ${name}${isTold ? ' (you have it)' : ''}: ${short(description)}`,
  );
  return ['These can be called from your next message on, best match first:', ...lines].join('\n');
}

function nothing(found: FoundTools): string {
  const { servers, waiting, unknownServer } = found;
  const there = servers.length > 0 ? ` Servers there are: ${servers.join(', ')}.` : '';
  const more = waiting.length > 0 ? ` connect_mcp can connect: ${waiting.join(', ')}.` : '';
  const hint = unknownServer?.meant === undefined ? '' : `; did you mean ${unknownServer.meant}?`;
  const why = unknownServer ? `There is no server ${unknownServer.name}${hint}` : 'Try other words';
  return [`No tool was found. ${why}.${there}${more}`.replace('?.', '?'), ...unknown(found)].join('\n');
}

function unknown({ unknown }: FoundTools): string[] {
  return unknown.map(({ name, meant }) =>
    meant === undefined ? `There is no tool ${name}.` : `There is no tool ${name}; did you mean ${meant}?`,
  );
}

function short(description: string): string {
  const line = description.replace(/\s+/g, ' ').trim();
  return truncate(line, LONGEST_DESCRIPTION);
}
