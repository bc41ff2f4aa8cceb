import { truncate } from '../../base/text/display-text.ts';
import { failedOutcome } from '../loop/run-calls.ts';
import { defineBuiltIn, type FoundTools } from './built-in.ts';

const DEFAULT_RESULTS = 5;
const MAX_RESULTS = 20;
/** Maximum number of characters of a description in the result; the whole definition follows in the next request. */
const MAX_DESCRIPTION_LENGTH = 160;

export const TOOL_SEARCH = defineBuiltIn({
  name: 'ToolSearch',
  description:
    'Finds and loads deferred tools of connected servers; their definitions are available from your next message on. ' +
    'Describe the task in a few words, preferably in English, or name tools: ' +
    '"select:mcp__github__create_issue,mcp__github__list_issues". "server:github" searches one server, "+word" requires ' +
    'the word, "readonly:true" and "destructive:false" require that annotation; a query that has only filters lists tools by name.',
  annotations: { title: 'Search for tools', readOnlyHint: true, openWorldHint: false },
  required: {
    query: {
      type: 'string',
      minLength: 1,
      description: 'A description of the task, or "select:" followed by tool names.',
    },
  },
  optional: {
    max_results: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_RESULTS,
      description: `The maximum number of tools to load; ${DEFAULT_RESULTS} by default.`,
    },
  },
  async run({ query, max_results: limit = DEFAULT_RESULTS }, context, signal) {
    const found = await context.findTools(query, limit, signal);
    const matches = found.tools.map(({ name }) => name);
    const summary = { matches, query, total_deferred_tools: found.searchable };
    if (matches.length === 0) return { ...failedOutcome(formatNothingFound(found)), programResult: summary };
    return {
      content: [formatFound(found), ...formatUnknown(found)].join('\n'),
      isError: false,
      programResult: summary,
    };
  },
});

function formatFound({ tools }: FoundTools): string {
  const lines = tools.map(
    ({ name, description, isDisclosed }) =>
      `- ${name}${isDisclosed ? ' (already loaded)' : ''}: ${short(description)}`,
  );
  return ['These tools can be called from your next message on, best match first:', ...lines].join('\n');
}

function formatNothingFound(found: FoundTools): string {
  const { servers, waiting, unknownServer } = found;
  const there = servers.length > 0 ? ` Available servers: ${servers.join(', ')}.` : '';
  const more = waiting.length > 0 ? ` Not connected yet (use connect_mcp): ${waiting.join(', ')}.` : '';
  const hint = unknownServer?.suggestion === undefined ? '' : `; did you mean ${unknownServer.suggestion}?`;
  const why = unknownServer ? `There is no server ${unknownServer.name}${hint}` : 'Try other words';
  return [`No tool was found. ${why}.${there}${more}`.replace('?.', '?'), ...formatUnknown(found)].join('\n');
}

function formatUnknown({ unknown }: FoundTools): string[] {
  return unknown.map(({ name, suggestion }) =>
    suggestion === undefined
      ? `There is no tool ${name}.`
      : `There is no tool ${name}; did you mean ${suggestion}?`,
  );
}

function short(description: string): string {
  const line = description.replace(/\s+/g, ' ').trim();
  return truncate(line, MAX_DESCRIPTION_LENGTH);
}
