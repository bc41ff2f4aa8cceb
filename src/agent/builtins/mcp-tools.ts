import { sliceText } from '../../base/text/display-text.ts';
import { failedOutcome } from '../loop/run-calls.ts';
import { type ConnectOutcome, defineBuiltIn, type ListedResource } from './built-in.ts';

/** Limits of one answer: a server may have thousands of resources. */
const MAX_RESOURCES = 200;
const MAX_CHARACTERS = 40_000;
const MAX_TEXT_LENGTH = 200;
/** Resources with longer URIs are omitted. */
const MAX_URI_LENGTH = 2_000;

export const LIST_MCP_RESOURCES = defineBuiltIn({
  name: 'ListMcpResourcesTool',
  description:
    'Lists the resources of connected MCP servers with their URIs, and URI templates. Read one with ReadMcpResourceTool.',
  annotations: { title: 'List resources', readOnlyHint: true, openWorldHint: true },
  required: {},
  optional: {
    server: { type: 'string', minLength: 1, description: 'Only resources of this server.' },
    contains: {
      type: 'string',
      minLength: 1,
      description: 'Only resources whose URI, name or description contains this text.',
    },
  },
  async run({ server, contains = '' }, context, signal) {
    const listed = await context.resources.list(server, signal);
    if ('fault' in listed) return failedOutcome(listed.fault);
    const faults = listed.faults.map((fault) => sliceText(fault, MAX_URI_LENGTH));
    const all = [...listed.resources, ...listed.templates].filter(matching(contains)).map(summarize);
    if (all.length === 0) {
      if (faults.length > 0) return failedOutcome(faults.join('\n'));
      return { content: 'No resources were found.', isError: false, programResult: [] };
    }
    const lines = fitting(all.slice(0, MAX_RESOURCES).map((it) => JSON.stringify(it)));
    const more = all.length - lines.length;
    const rest = more > 0 ? [`… and ${more} more: set "server" or "contains" to see them.`] : [];
    return {
      content: [...lines, ...rest, ...faults].join('\n'),
      isError: false,
      programResult: all.slice(0, lines.length),
    };
  },
});

function matching(contains: string): (it: ListedResource) => boolean {
  const asked = contains.toLowerCase();
  return ({ uri, uriTemplate, name, title, description }) => {
    const texts = [uri, uriTemplate, name, title, description];
    return `${uri ?? uriTemplate}`.length <= MAX_URI_LENGTH && texts.join('\n').toLowerCase().includes(asked);
  };
}

/** The members of a resource that a model needs to choose one; long texts are truncated. */
function summarize({ server, uri, uriTemplate, name, title, description, mimeType, size }: ListedResource) {
  const short = (text: string | undefined) =>
    text === undefined ? undefined : sliceText(text, MAX_TEXT_LENGTH);
  return {
    server,
    uri,
    uriTemplate,
    name: short(name),
    title: short(title),
    description: short(description),
    mimeType: short(mimeType),
    size,
  };
}

function fitting(lines: readonly string[]): string[] {
  let left = MAX_CHARACTERS;
  const end = lines.findIndex((line) => {
    left -= line.length;
    return left < 0;
  });
  return end < 0 ? [...lines] : lines.slice(0, end);
}

export const READ_MCP_RESOURCE = defineBuiltIn({
  name: 'ReadMcpResourceTool',
  description:
    'Reads a resource of a connected MCP server by its URI, or by a URI built from one of its templates. Text is returned as it is; other data is saved to a file whose path is returned.',
  annotations: { title: 'Read a resource', readOnlyHint: true, openWorldHint: true },
  required: {
    server: {
      type: 'string',
      minLength: 1,
      description: "The server's name, as ListMcpResourcesTool returns it.",
    },
    uri: { type: 'string', minLength: 1, description: 'The URI of the resource.' },
  },
  optional: {
    subscribe: {
      type: 'boolean',
      description: 'true: you are notified when the resource changes. false: these notifications end.',
    },
  },
  uriMember: 'uri',
  async run({ server, uri, subscribe }, { resources }, signal) {
    const outcome = await resources.read(server, uri, signal);
    if (subscribe === undefined || outcome.isError) return outcome;
    const fault = await resources.watch(server, uri, subscribe, signal);
    const note =
      fault === undefined
        ? subscribe
          ? '[You are notified when this resource changes.]'
          : '[You are no longer notified when this resource changes.]'
        : `[Changes of this resource are not reported: ${fault}]`;
    const { content } = outcome;
    return {
      ...outcome,
      content:
        typeof content === 'string' ? `${content}\n${note}` : [...content, { type: 'text', text: note }],
    };
  },
});

const MAX_NAMES = 100;

export const CONNECT_MCP = defineBuiltIn({
  name: 'connect_mcp',
  description:
    'Connects an MCP server that is configured but not connected yet. Its tools can be called from your next message on.',
  annotations: {
    title: 'Connect a server',
    readOnlyHint: false,
    destructiveHint: false,
    openWorldHint: true,
  },
  required: {
    name: { type: 'string', minLength: 1, description: "The server's name in the configuration." },
  },
  optional: {},
  async run({ name }, context, signal) {
    const outcome = await context.connect(name, signal);
    switch (outcome.kind) {
      case 'connected':
        return succeeded(`Connected to '${name}'. Discovered: ${discovered(outcome)}`);
      case 'already-connected':
        return succeeded(`MCP server '${name}' already connected`);
      case 'unknown':
        return failedOutcome(`Unknown server '${name}'. Available: ${listed(outcome.available)}`);
      case 'failed':
        return failedOutcome(`Could not connect to '${name}': ${outcome.fault}`);
    }
  },
});

/** Names up to `MAX_NAMES` tools of a server. */
function discovered({ tools, searchable = 0 }: Extract<ConnectOutcome, { kind: 'connected' }>): string {
  const more = tools.length - MAX_NAMES;
  const named = more > 0 ? `${listed(tools.slice(0, MAX_NAMES))} and ${more} more` : listed(tools);
  return searchable > 0 ? `${named}. Use ToolSearch to find and load the tools` : named;
}

function listed(names: readonly string[]): string {
  return names.join(', ') || '(none)';
}

function succeeded(content: string) {
  return { content, isError: false };
}
