import type { AvailableCommand, ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { isRecord } from '../../base/json-value.ts';
import type { SDKMessage } from '../../protocol/agent-message.ts';
import type { SlashCommand } from '../../protocol/system-message.ts';
import { retryText } from '../chat/message-text.ts';
import {
  type CallPlace,
  describeToolCall,
  describeToolResult,
  exitCodeOf,
  planEntries,
  resultText,
} from './tool-call.ts';

type UpdateOptions = CallPlace & {
  /** The client shows the output of commands as a terminal: the extension `terminal_output` of its capabilities. */
  readonly showsTerminals: boolean;
  /** The client shows notices, which are not part of the conversation. */
  readonly showsNotices: boolean;
};

/** A tool call that has been announced and has no result yet. */
type OpenCall = { readonly name: string; readonly input: unknown; isRunning?: boolean };

type Block = Readonly<Record<string, unknown>>;

/** Converts the messages of an agent to `session/update` notifications. */
export class SessionUpdates {
  readonly #options: UpdateOptions;
  readonly #calls = new Map<string, OpenCall>();
  /** The message whose text and thinking were streamed; its blocks are not sent again. */
  #streamed: string | undefined;
  #hasText = false;

  constructor(options: UpdateOptions) {
    this.#options = options;
  }

  /** The updates for one message of a running turn. */
  receive(message: SDKMessage): SessionUpdate[] {
    switch (message.type) {
      case 'stream_event':
        // The text of a sub-agent is not part of the conversation; its last message is the result of its call.
        return message.parent_tool_use_id === null ? this.#streamEvent(message.event) : [];
      case 'assistant':
        // The text of an error is the message of the response to `session/prompt`.
        return message.error === undefined
          ? this.#assistant(message.message, message.parent_tool_use_id)
          : [];
      case 'user':
        return this.#results(message.message.content, message.tool_use_result);
      case 'tool_progress':
        return this.started(message.tool_use_id);
      case 'system':
        if (isAllowance(message)) return this.started((message as Block).tool_use_id);
        if (message.subtype === 'compact_boundary' && message.compact_metadata.trigger === 'manual') {
          return [textChunk('agent_message_chunk', 'The conversation was compacted.')];
        }
        if (message.subtype === 'commands_changed') return [commandsUpdate(message.commands)];
        if (message.subtype === 'api_retry' && this.#options.showsNotices) {
          const description = retryText({ ...message });
          return [
            { sessionUpdate: 'notice', severity: 'warning', title: 'Model request failed', description },
          ];
        }
        if (message.subtype === 'status' && message.permissionMode !== undefined) {
          return [{ sessionUpdate: 'current_mode_update', currentModeId: message.permissionMode }];
        }
        return [];
      case 'result': {
        const isUnseen = message.subtype === 'success' && !message.is_error && !this.#hasText;
        this.#hasText = false;
        // Commands of the agent and blocked prompts have a result text and no message.
        return isUnseen && message.result !== '' ? [textChunk('agent_message_chunk', message.result)] : [];
      }
      default:
        return [];
    }
  }

  /** The updates for one message of a stored conversation. */
  replay(message: { readonly role: 'user' | 'assistant'; readonly content: unknown }): SessionUpdate[] {
    if (message.role === 'assistant') return this.#assistant(message, null);
    const prompts = blocksOf(message.content).flatMap((block): SessionUpdate[] => {
      const content = promptContent(block);
      return content ? [{ sessionUpdate: 'user_message_chunk', content }] : [];
    });
    return [...this.#results(message.content, undefined), ...prompts];
  }

  /** Announces a call before permission is requested for it, unless it has been announced. */
  announce(id: string, name: string, input: unknown): SessionUpdate[] {
    const known = this.#calls.get(id);
    return known?.input === undefined ? this.#call({ id, name, input }, null) : [];
  }

  /** Reports once that a call is running. */
  started(id: unknown): SessionUpdate[] {
    const call = typeof id === 'string' ? this.#calls.get(id) : undefined;
    if (!call || call.isRunning) return [];
    call.isRunning = true;
    return [{ sessionUpdate: 'tool_call_update', toolCallId: String(id), status: 'in_progress' }];
  }

  #streamEvent(event: unknown): SessionUpdate[] {
    if (!isRecord(event)) return [];
    const { message, content_block: block, delta } = event;
    switch (event.type) {
      case 'message_start':
        this.#streamed = isRecord(message) ? String(message.id) : undefined;
        return [];
      case 'content_block_start':
        if (!isRecord(block) || block.type !== 'tool_use' || this.#calls.has(String(block.id))) return [];
        return this.#start(String(block.id), String(block.name));
      case 'content_block_delta':
        if (!isRecord(delta)) return [];
        if (delta.type === 'text_delta') return this.#text(delta.text);
        return delta.type === 'thinking_delta' ? thought(delta.thinking) : [];
      default:
        return [];
    }
  }

  #assistant(
    message: { readonly id?: string; readonly content: unknown },
    parent: string | null,
  ): SessionUpdate[] {
    const isStreamed = message.id !== undefined && message.id === this.#streamed;
    return blocksOf(message.content).flatMap((block) => {
      if (block.type === 'tool_use') return this.#call(block, parent);
      if (isStreamed || parent !== null) return [];
      if (block.type === 'text') return this.#text(block.text);
      return block.type === 'thinking' ? thought(block.thinking) : [];
    });
  }

  #text(text: unknown): SessionUpdate[] {
    if (typeof text !== 'string' || text === '') return [];
    this.#hasText = true;
    return [textChunk('agent_message_chunk', text)];
  }

  /** A call whose input is still being streamed. */
  #start(id: string, name: string): SessionUpdate[] {
    if (name === 'TodoWrite') return [];
    this.#calls.set(id, { name, input: undefined });
    const { title, kind } = describeToolCall(name, {}, this.#options);
    return [
      { sessionUpdate: 'tool_call', toolCallId: id, name, title, kind, status: 'pending', rawInput: {} },
    ];
  }

  /** A call with its input. */
  #call({ id: given, name: tool, input }: Block, parent: string | null): SessionUpdate[] {
    const [id, name] = [String(given), String(tool)];
    const entries = planEntries(name, input);
    if (entries) return [{ sessionUpdate: 'plan', entries }];
    const known = this.#calls.get(id);
    if (known?.input !== undefined) return [];
    this.#calls.set(id, { name, input: input ?? {} });
    const { cwd } = this.#options;
    const view = describeToolCall(name, input, this.#options);
    const call = {
      toolCallId: id,
      name,
      ...view,
      ...(this.#isTerminal(name) && { content: [{ type: 'terminal' as const, terminalId: id }] }),
      // The call runs once it is allowed; agents that report no decision report only its progress or result.
      status: 'pending' as const,
      rawInput: input,
      ...metaOf({
        ...(parent !== null && { toolplane: { parentToolCallId: parent } }),
        ...(this.#isTerminal(name) && { terminal_info: { terminal_id: id, cwd } }),
      }),
    };
    return [known ? { sessionUpdate: 'tool_call_update', ...call } : { sessionUpdate: 'tool_call', ...call }];
  }

  #results(content: unknown, output: unknown): SessionUpdate[] {
    return blocksOf(content).flatMap((block): SessionUpdate[] => {
      const id = String(block.tool_use_id);
      const call = block.type === 'tool_result' ? this.#calls.get(id) : undefined;
      if (!call) return [];
      this.#calls.delete(id);
      const isError = block.is_error === true;
      const status = isError ? 'failed' : 'completed';
      const rawOutput = output ?? block.content;
      if (this.#isTerminal(call.name)) return terminalUpdates(id, block.content, isError, rawOutput);
      const { cwd } = this.#options;
      const shown = describeToolResult(call.name, block.content, isError, { output, cwd });
      return [{ sessionUpdate: 'tool_call_update', toolCallId: id, status, rawOutput, ...shown }];
    });
  }

  #isTerminal(name: string): boolean {
    return name === 'Bash' && this.#options.showsTerminals;
  }
}

/** The update with the slash commands of a session, without `clear`: a client starts a new session instead. */
export function commandsUpdate(commands: readonly SlashCommand[]): SessionUpdate {
  const availableCommands = commands
    .filter(({ name }) => name !== 'clear')
    .map(
      ({ name, description, argumentHint }): AvailableCommand => ({
        name,
        description,
        input: argumentHint === '' ? null : { hint: argumentHint },
      }),
    );
  return { sessionUpdate: 'available_commands_update', availableCommands };
}

/** Whether a call was allowed, by a rule, a hook or the user. Only Toolplane's agent reports decisions. */
function isAllowance(message: Block): boolean {
  return message.subtype === 'permission_decided' && message.behavior === 'allow';
}

/** The output of a command in a terminal that the client shows, and its end. */
function terminalUpdates(
  id: string,
  content: unknown,
  isError: boolean,
  rawOutput: unknown,
): SessionUpdate[] {
  const data = resultText(content);
  const exit = { terminal_id: id, exit_code: exitCodeOf(data, isError), signal: null };
  return [
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: id,
      _meta: { terminal_output: { terminal_id: id, data } },
    },
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: id,
      status: isError ? 'failed' : 'completed',
      rawOutput,
      _meta: { terminal_exit: exit },
    },
  ];
}

function textChunk(kind: 'agent_message_chunk' | 'agent_thought_chunk', text: string): SessionUpdate {
  return { sessionUpdate: kind, content: { type: 'text', text } };
}

function thought(text: unknown): SessionUpdate[] {
  return typeof text === 'string' && text !== '' ? [textChunk('agent_thought_chunk', text)] : [];
}

/** Texts in user messages that the agent itself wrote: about an interrupt, or a command and its output. */
const AGENT_TEXT = /^(?:\[Request interrupted by user|<(?:local-command-\w+|command-name)>)/;

/** The part of a stored prompt as the client sent it; undefined for results and unknown blocks. */
function promptContent(block: Block): ContentBlock | undefined {
  if (block.type === 'text' && typeof block.text === 'string') {
    return AGENT_TEXT.test(block.text) ? undefined : { type: 'text', text: block.text };
  }
  const { source } = block;
  if (block.type !== 'image' || !isRecord(source) || source.type !== 'base64') return undefined;
  return { type: 'image', data: String(source.data), mimeType: String(source.media_type) };
}

function metaOf(meta: Readonly<Record<string, unknown>>): { _meta?: Record<string, unknown> } {
  return Object.keys(meta).length > 0 ? { _meta: { ...meta } } : {};
}

function blocksOf(content: unknown): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}
