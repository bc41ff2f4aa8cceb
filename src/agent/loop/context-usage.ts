import { estimateTextTokens } from '../../base/text/display-text.ts';
import { definitionTokens } from '../../pool/token-cost.ts';
import type { ModelBlock, Usage, UserBlock } from '../../protocol/agent-message.ts';
import type { MessageBreakdown } from '../../protocol/usage-report.ts';
import type { ModelLimits, ModelMessage, ModelTool } from '../models/model.ts';
import { IMAGE_TOKENS } from '../results/result-limit.ts';

/** One row of the context window: used, free, or reserved for compaction. */
type ContextCategory = {
  id: 'system_prompt' | 'system_tools' | 'mcp_tools' | 'messages' | 'autocompact_buffer' | 'free_space';
  name: string;
  tokens: number;
  color: string;
  kind: 'used' | 'buffer' | 'free';
};

/** The response of `get_context_usage`. The rows add up to `rawMaxTokens`, unless more than that is used. */
type ContextUsage = {
  categories: ContextCategory[];
  totalTokens: number;
  maxTokens: number;
  rawMaxTokens: number;
  percentage: number;
  /** A drawing of the window; always empty. */
  gridRows: never[][];
  model: string;
  memoryFiles: { path: string; type: string; tokens: number }[];
  mcpTools: { name: string; serverName: string; tokens: number; isLoaded: boolean }[];
  systemTools: { name: string; tokens: number }[];
  agents: { agentType: string; source: string; tokens: number }[];
  autoCompactThreshold: number;
  isAutoCompactEnabled: true;
  messageBreakdown: MessageBreakdown;
  apiUsage: ApiUsage | null;
};

type ApiUsage = Record<
  'input_tokens' | 'output_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens',
  number
>;

/** A tool with its server's key, if it has one; a deferred tool takes no space until it is loaded. */
type CountedTool = ModelTool & { readonly server?: string; readonly isLoaded?: boolean };

/** Estimates what fills the context window; `lastUsage`, as counted by the model, is passed on unchanged. */
export function contextUsage(context: {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly CountedTool[];
  readonly messages: readonly ModelMessage[];
  readonly limits: ModelLimits;
  readonly memoryFiles?: ContextUsage['memoryFiles'];
  readonly lastUsage?: Usage;
}): ContextUsage {
  const { model, system, tools, messages, limits, memoryFiles = [], lastUsage } = context;
  const counted = tools.map((tool) => ({ ...tool, tokens: toolTokens(tool) }));
  const ofServers = counted.flatMap(({ name, server, tokens, isLoaded = true }) =>
    server === undefined ? [] : [{ name, serverName: server, tokens, isLoaded }],
  );
  const builtIn = counted
    .filter(({ server }) => server === undefined)
    .map(({ name, tokens }) => ({ name, tokens }));
  const used = [
    row('system_prompt', 'System prompt', estimateTextTokens(system), 'cyan'),
    row('system_tools', 'System tools', total(builtIn), 'blue'),
    row('mcp_tools', 'MCP tools', total(ofServers.filter((it) => it.isLoaded)), 'magenta'),
    row(
      'messages',
      'Messages',
      messages.reduce((sum, it) => sum + messageTokens(it), 0),
      'green',
    ),
  ];
  const totalTokens = total(used);
  const window = limits.contextTokens;
  const left = Math.max(0, window - totalTokens);
  const buffer = Math.min(left, window - compactThreshold(limits));
  return {
    categories: [
      ...used.filter(({ tokens }) => tokens > 0),
      ...(buffer > 0 ? [row('autocompact_buffer', 'Reserved for compaction', buffer, 'gray', 'buffer')] : []),
      row('free_space', 'Free space', left - buffer, 'gray', 'free'),
    ],
    totalTokens,
    maxTokens: window,
    rawMaxTokens: window,
    percentage: Math.round((totalTokens / window) * 100),
    gridRows: [],
    model,
    memoryFiles,
    mcpTools: ofServers,
    systemTools: builtIn,
    agents: [],
    autoCompactThreshold: compactThreshold(limits),
    isAutoCompactEnabled: true,
    messageBreakdown: breakDown(messages),
    apiUsage: lastUsage ? apiUsage(lastUsage) : null,
  };
}

function row(
  id: ContextCategory['id'],
  name: string,
  tokens: number,
  color: string,
  kind: ContextCategory['kind'] = 'used',
): ContextCategory {
  return { id, name, tokens, color, kind };
}

function total(items: readonly { tokens: number }[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Counts each block by its kind, and results by the called tool; the rest is message overhead. */
function breakDown(messages: readonly ModelMessage[]): MessageBreakdown {
  const sums = { call: 0, result: 0, attachment: 0, assistant: 0, user: 0 };
  const toolOf = new Map<string, string>();
  const byTool = new Map<string, { name: string; callTokens: number; resultTokens: number }>();
  const byAttachment = new Map<string, { name: string; tokens: number }>();
  const tool = (name: string) => entry(byTool, name, { name, callTokens: 0, resultTokens: 0 });
  for (const { role, content } of messages) {
    for (const block of content) {
      const tokens = blockTokens(block);
      if (block.type === 'tool_use') {
        sums.call += tokens;
        toolOf.set(block.id, block.name);
        tool(block.name).callTokens += tokens;
      } else if (block.type === 'tool_result') {
        sums.result += tokens;
        tool(toolOf.get(block.tool_use_id) ?? 'unknown').resultTokens += tokens;
      } else if (block.type === 'image' || block.type === 'document') {
        sums.attachment += tokens;
        entry(byAttachment, block.type, { name: block.type, tokens: 0 }).tokens += tokens;
      } else sums[role] += tokens;
    }
  }
  const all = messages.reduce((sum, message) => sum + messageTokens(message), 0);
  return {
    toolCallTokens: sums.call,
    toolResultTokens: sums.result,
    attachmentTokens: sums.attachment,
    assistantMessageTokens: sums.assistant,
    userMessageTokens: sums.user,
    redirectedContextTokens: 0,
    unattributedTokens: all - sums.call - sums.result - sums.attachment - sums.assistant - sums.user,
    toolCallsByType: [...byTool.values()],
    attachmentsByType: [...byAttachment.values()],
  };
}

function entry<T>(map: Map<string, T>, key: string, fresh: T): T {
  const found = map.get(key);
  if (found) return found;
  map.set(key, fresh);
  return fresh;
}

function apiUsage(usage: Usage): ApiUsage {
  return {
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_creation_input_tokens: usage.cache_creation_input_tokens ?? 0,
    cache_read_input_tokens: usage.cache_read_input_tokens ?? 0,
  };
}

/** The part of the input space that may be used; the rest is for the next results and estimation errors. */
const MAX_FILL = 0.9;

export function shouldCompact(usedTokens: number, limits: ModelLimits): boolean {
  return usedTokens >= compactThreshold(limits);
}

/** The number of tokens at which a conversation is compacted: a part of the window minus the reserve for a reply. */
export function compactThreshold({ contextTokens, outputTokens }: ModelLimits): number {
  // At most half of the window is reserved, for models whose reply may fill the whole window.
  const reserve = Math.min(outputTokens, contextTokens / 2);
  return Math.floor((contextTokens - reserve) * MAX_FILL);
}

/** The tokens in the window: the model's own count at its last reply, plus an estimate of the messages since. */
export function usedTokens(lastUsage: Usage, added: readonly ModelMessage[]): number {
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = lastUsage;
  const counted =
    input_tokens + output_tokens + (cache_creation_input_tokens ?? 0) + (cache_read_input_tokens ?? 0);
  return counted + estimateTokens({ messages: added });
}

export { estimateTextTokens };

/** Bytes of JSON per token; punctuation makes JSON denser than text. */
const JSON_BYTES_PER_TOKEN = 3;
const TOKENS_PER_PAGE = 2_000;
const BYTES_PER_PAGE = 50_000;
/** Tokens for the role, ids and delimiters of each message and block. */
const OVERHEAD = 4;

/** Estimates the tokens of a request. The estimate is cheap and deterministic; the model's own count is exact. */
export function estimateTokens(request: {
  readonly system?: string;
  readonly tools?: readonly ModelTool[];
  readonly messages?: readonly ModelMessage[];
}): number {
  const { system = '', tools = [], messages = [] } = request;
  return estimateTextTokens(system) + sum(tools, toolTokens) + sum(messages, messageTokens);
}

export function toolTokens({ name, description, input_schema }: ModelTool): number {
  return definitionTokens(name, description, input_schema);
}

export function messageTokens(message: ModelMessage): number {
  return OVERHEAD + sum<ModelBlock | UserBlock>(message.content, blockTokens);
}

/** Unknown kinds of blocks are estimated by the length of their JSON. */
export function blockTokens(block: ModelBlock | UserBlock): number {
  switch (block.type) {
    case 'text':
      return estimateTextTokens(block.text);
    case 'thinking':
      return OVERHEAD + estimateTextTokens(block.thinking);
    case 'tool_use':
      return OVERHEAD + estimateTextTokens(block.name) + jsonTokens(block.input);
    case 'tool_result': {
      const { content = '' } = block;
      return (
        OVERHEAD + (typeof content === 'string' ? estimateTextTokens(content) : sum(content, blockTokens))
      );
    }
    case 'image':
      return IMAGE_TOKENS;
    case 'document':
      return documentTokens(block.source);
    default:
      return jsonTokens(block);
  }
}

function documentTokens({ type, data }: Record<string, unknown>): number {
  if (typeof data !== 'string') return TOKENS_PER_PAGE;
  if (type === 'text') return estimateTextTokens(data);
  const bytes = (data.length * 3) / 4;
  return TOKENS_PER_PAGE * Math.max(1, Math.ceil(bytes / BYTES_PER_PAGE));
}

function jsonTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / JSON_BYTES_PER_TOKEN);
}

function sum<T>(items: readonly T[], tokensOf: (item: T) => number): number {
  return items.reduce((total, item) => total + tokensOf(item), 0);
}
