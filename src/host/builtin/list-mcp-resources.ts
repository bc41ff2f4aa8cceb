import { failedOutcome } from '../agent/tool-call.ts';
import { defineBuiltIn } from './define.ts';

/** How many are told in one answer: a server may have thousands. */
const MOST = 200;

export const LIST_MCP_RESOURCES = defineBuiltIn({
  name: 'ListMcpResourcesTool',
  description:
    'Lists what connected MCP servers have to be read: resources with their URIs, and templates of URIs. Read one with ReadMcpResourceTool.',
  annotations: { title: 'List resources', readOnlyHint: true, openWorldHint: true },
  required: {},
  optional: {
    server: { type: 'string', minLength: 1, description: 'Only those of this server.' },
    contains: {
      type: 'string',
      minLength: 1,
      description: 'Only those whose URI, name or description has this text.',
    },
  },
  async run({ server, contains = '' }, world, signal) {
    const all = await world.resources.list(server, signal);
    if ('fault' in all) return failedOutcome(all.fault);
    const isMeant = (it: object) => JSON.stringify(it).toLowerCase().includes(contains.toLowerCase());
    const resources = all.resources.filter(isMeant);
    const templates = all.templates.filter(isMeant);
    const total = resources.length + templates.length;
    if (total === 0) return { content: 'No resources were found.', isError: false, told: [] };
    const shown = [...resources, ...templates].slice(0, MOST);
    const lines = shown.map((it) => JSON.stringify(it));
    if (total > MOST) lines.push(`… and ${total - MOST} more: give "server" or "contains" to see them.`);
    return { content: [...lines, ...all.faults].join('\n'), isError: false, told: shown };
  },
});
