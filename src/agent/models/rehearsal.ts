import { isRecord } from '../../base/json-value.ts';
import { CHANNEL_LABEL } from '../../channels/channel-message.ts';
import type { UserBlock } from '../../protocol/agent-message.ts';
import { isMcpToolName } from '../../protocol/tool-name.ts';
import type { Model, ModelRequest, ModelTool } from './model.ts';
import { type MessageReply, scriptedModel, text, together, toolUse } from './scripted.ts';

const HELP =
  'I am the rehearsal model and understand: "connect to <server>", "connect both", "list tools", "call <tool> with {json}", "search <words>"; join steps with "then".';

type Rule = readonly [
  pattern: RegExp,
  reply: (found: string[], tools: readonly ModelTool[], system: string) => MessageReply,
];

/** The query when a prompt says only "search". */
const DEFAULT_QUERY = 'getting started';

const CONNECT_ALL = /\bconnect (?:to )?(?:both|all)\b/i;

const RULES: readonly Rule[] = [
  // The reminder of an agent that needs structured output.
  [/\bwith the (StructuredOutput) tool\b/, ([name = ''], tools) => madeUp(name, tools)],
  [CONNECT_ALL, (_, tools, system) => connectAll(tools, system)],
  [
    /\bconnect to (?:the )?["'`]?([^\s"'`,]+?)["'`]?(?:[\s,.!?]|$)/i,
    ([name = ''], tools) => connect(name, tools),
  ],
  [/\b(?:list|show|what)\b.*\btools\b/i, (_, tools) => listing(tools)],
  [
    /\b(?:call|run|use) ["'`]?([\w.-]+)["'`]?(?:.*?(\{.*\}))?/is,
    ([name = '', json], tools) => call(name, json, tools),
  ],
  [/\btrigger (?:an? |the )?([\w-]+)/i, ([what = ''], tools) => trigger(what, tools)],
  [/\bsearch (?:for )?["'`]?(.+?)["'`]?[.!?]?$/is, ([query = ''], tools) => search(query, tools)],
  [/\bsearch[.!?]?$/i, (_, tools) => search(DEFAULT_QUERY, tools)],
];

/** An offline stand-in for a model that understands a few fixed phrases, for trying things without a key. */
export function rehearsalModel(): Model {
  return scriptedModel((request) => rehearse(request), { name: 'rehearsal', records: false });
}

/** The next step of the latest prompt, or the results once all steps are done. */
export function rehearse({
  messages,
  tools,
  system = '',
}: Pick<ModelRequest, 'messages' | 'tools'> & { system?: string }): MessageReply {
  const asked = messages.findLastIndex(
    (message) => message.role === 'user' && promptOf(message.content) !== '',
  );
  const prompt = messages[asked];
  const last = messages.at(-1);
  const isOwn = last?.role === 'user' && !last.content.some(({ type }) => type === 'tool_result');
  const channel = isOwn && asked < messages.length - 1 ? channelOf(last.content) : undefined;
  if (channel !== undefined) return text(`Noted: the channel ${channel} has sent a message.`);
  if (prompt?.role !== 'user') return text(HELP);
  const done = messages.slice(asked).filter(({ role }) => role === 'assistant').length;
  const steps = promptOf(prompt.content).split(STEP_EDGE);
  // If no server is left to connect, that step is done already.
  const isDone =
    done === 0 &&
    steps.length > 1 &&
    CONNECT_ALL.test(steps[0] ?? '') &&
    connectableServers(system).length === 0;
  const step = steps[isDone ? 1 : done];
  return step === undefined
    ? quote(messages.slice(asked).flatMap(results))
    : follow(step.trim(), tools, system);
}

/** Steps are separated by "then", a new line, a dash, a colon before a question, or "and" before a known verb. */
const STEP_EDGE =
  /[,;.]?\s+(?:and\s+)?then\s+|\n+|\s+[—–-]+\s+|:\s+(?=(?:what|list|show)\b)|\s+and\s+(?=(?:search|call|run|use|list|show|trigger|connect)\b)/i;

function follow(step: string, tools: readonly ModelTool[], system: string): MessageReply {
  for (const [pattern, reply] of RULES) {
    const found = pattern.exec(step);
    if (found) return reply(found.slice(1), tools, system);
  }
  return text(HELP);
}

function connect(server: string, tools: readonly ModelTool[]): MessageReply {
  const tool = tools.find(({ name }) => name === 'connect_mcp');
  if (!tool) return text('I cannot connect to a server, because there is no connect_mcp tool.');
  return toolUse(tool.name, { [firstField(tool) ?? 'server']: server });
}

function connectAll(tools: readonly ModelTool[], system: string): MessageReply {
  const names = connectableServers(system);
  if (names.length === 0) return text('There are no servers to connect.');
  return together(...names.map((name) => connect(name, tools)));
}

/** The system prompt lists the servers that can be connected. */
function connectableServers(system: string): string[] {
  return (
    /^Not connected yet: (.*)\. connect_mcp connects a server by its name/m.exec(system)?.[1]?.split(', ') ??
    []
  );
}

/** Calls a tool that triggers something, with made-up values for required arguments. */
function trigger(what: string, tools: readonly ModelTool[]): MessageReply {
  const tool =
    tools.find(({ name }) => /^mcp__.*trigger/i.test(name)) ?? tools.find(({ name }) => name.includes(what));
  return tool
    ? toolUse(tool.name, placeholderInput(tool))
    : text(`There is no tool to trigger a ${what} with.`);
}

/** Calls a tool with made-up values for its required arguments. */
function madeUp(name: string, tools: readonly ModelTool[]): MessageReply {
  const tool = tools.find((one) => one.name === name);
  return tool ? toolUse(tool.name, placeholderInput(tool)) : text(HELP);
}

type Schema = Readonly<Record<string, unknown>>;

function placeholderInput({ input_schema }: ModelTool): Record<string, unknown> {
  return placeholderObject(input_schema, input_schema, 0);
}

/** Maximum depth in which a schema gets values, so that a schema that refers to itself ends. */
const MAX_DEPTH = 10;

function placeholderObject(schema: Schema, root: Schema, depth: number): Record<string, unknown> {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(
    required.map((name) => [String(name), placeholder(properties[String(name)], root, depth + 1)]),
  );
}

/** A value that fits the common keywords of a schema. */
function placeholder(given: unknown, root: Schema, depth: number): unknown {
  const schema = isRecord(given) ? given : {};
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  if (depth > MAX_DEPTH) return null;
  const [choice] = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) ?? [
    referenced(schema, root),
  ];
  if (choice !== undefined) return placeholder(choice, root, depth + 1);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return placeholderObject(schema, root, depth);
    case 'array':
      return Array.from({ length: Number(schema.minItems ?? 0) }, () =>
        placeholder(schema.items, root, depth + 1),
      );
    case 'number':
    case 'integer': {
      const min = Number(schema.minimum ?? Number(schema.exclusiveMinimum ?? 0) + 1);
      return Math.min(Math.max(1, min), Number(schema.maximum ?? Infinity));
    }
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'demo'.padEnd(Number(schema.minLength ?? 0), '.').slice(0, Number(schema.maxLength ?? Infinity));
  }
}

/** The schema that `$ref` refers to in the same document. */
function referenced({ $ref }: Schema, root: Schema): unknown {
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return undefined;
  const steps = $ref.split('/').slice(1);
  return steps.reduce<unknown>((at, step) => (isRecord(at) ? at[step] : undefined), root);
}

function listing(tools: readonly ModelTool[]): MessageReply {
  if (tools.length === 0) return text('I was given no tools.');
  const line = ({ name, description }: ModelTool) => {
    const marks = description.match(/\((?:readOnly|destructive)\)/g)?.join(' ') ?? '';
    return `- ${name} ${marks}`.trimEnd();
  };
  return text(
    `I was given ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}:\n`,
    tools.map(line).join('\n'),
  );
}

function call(name: string, json: string | undefined, tools: readonly ModelTool[]): MessageReply {
  const tool = tools.find((one) => one.name === name) ?? tools.find((one) => one.name.endsWith(`__${name}`));
  if (!tool) return text(`There is no tool ${name}. `, 'Say "list tools" to see them.');
  try {
    const input: unknown = JSON.parse(json ?? '{}');
    if (isRecord(input)) return toolUse(tool.name, input);
  } catch {}
  return text(`The input for ${name} is not a JSON object: ${json}`);
}

function search(query: string, tools: readonly ModelTool[]): MessageReply {
  // A search tool of a server is preferred to the search for tools.
  const found = tools.filter(({ name }) => /search/i.test(name));
  const tool = found.find(({ name }) => isMcpToolName(name)) ?? found[0];
  if (!tool) return text('There is no tool to search with; connect to a server that has one.');
  return toolUse(tool.name, { [firstField(tool) ?? 'query']: query });
}

function quote(texts: readonly string[]): MessageReply {
  return text('Done. ', ...(texts.length > 0 ? texts.map((result) => `The tool said: ${result}\n`) : [HELP]));
}

/** The main field of a tool: its first required one, else its first one. */
function firstField({ input_schema }: ModelTool): string | undefined {
  const required: unknown = Array.isArray(input_schema.required) ? input_schema.required[0] : undefined;
  if (typeof required === 'string') return required;
  return isRecord(input_schema.properties) ? Object.keys(input_schema.properties)[0] : undefined;
}

/** The source of a message that a server pushed. */
function channelOf(content: readonly UserBlock[]): string | undefined {
  const pushed = content.find((block) => block.type === 'text' && block.text.startsWith(CHANNEL_LABEL));
  return pushed && /<channel source="([^"]+)"/.exec(textOf(pushed))?.[1];
}

/** The last text of the user; texts that the host adds are in tags, or messages of channels. */
function promptOf(content: readonly UserBlock[]): string {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text.trim()] : []));
  return texts.findLast((one) => one !== '' && !one.startsWith('<') && !one.startsWith(CHANNEL_LABEL)) ?? '';
}

function results({ content }: ModelRequest['messages'][number]): string[] {
  return content.flatMap((block) => {
    if (block.type !== 'tool_result') return [];
    const parts = typeof block.content === 'string' ? [block.content] : (block.content ?? []).map(textOf);
    return [`${block.is_error ? '(failed) ' : ''}${parts.join('\n')}`];
  });
}

function textOf(block: UserBlock): string {
  return block.type === 'text' ? block.text : `[${block.type}]`;
}
