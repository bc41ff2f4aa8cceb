import { ScriptedAgent, type ServerNotification } from '../../control/scripted-link.ts';
import { type Frame, failureFrame, requestFrame, successFrame } from '../../protocol/control-frame.ts';
import type { RpcResponse } from '../../protocol/json-rpc.ts';
import type { CallToolResult } from '../../protocol/mcp.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import type { AgentLaunch, Options } from '../options/options.ts';

const SESSION = '00000000-0000-4000-8000-000000000000';

/** The default answer to `initialize`. */
const READY: Frame = {
  commands: [],
  agents: [],
  output_style: 'default',
  available_output_styles: [],
  models: [],
  account: {},
};

/**
 * A scripted agent with methods for common steps: answer `initialize`, call a tool, request permission, end a turn.
 */
export class AgentScript {
  readonly agent = new ScriptedAgent();
  /** Arguments, directory and environment that the agent would be started with. */
  launch: AgentLaunch | undefined;
  #calls = 0;
  #requests = 0;
  /** The last prompt taken, and the number of frames emitted by then. */
  #turn: { prompt: string; at: number } | undefined;

  /** Pass this to `query()` or `AgentClient.open()`. */
  get options(): Required<Pick<Options, 'link'>> {
    return {
      link: (launch) => {
        this.launch = launch;
        return this.agent.link;
      },
    };
  }

  /** Receives `initialize`, answers it and returns it. */
  async start(answer: Frame = {}): Promise<Frame> {
    const frame = await this.agent.take({ type: 'control_request', request: { subtype: 'initialize' } });
    this.agent.emit(successFrame(String(frame.request_id), { ...READY, ...answer }));
    return frame.request as Frame;
  }

  /** Receives the next user message and returns its text. */
  async prompt(): Promise<string> {
    const frame = await this.agent.take({ type: 'user' });
    const { content } = frame.message as { content: string | { text?: string }[] };
    const prompt = typeof content === 'string' ? content : content.map((block) => block.text ?? '').join('');
    this.#turn = { prompt, at: this.agent.emitted.length };
    return prompt;
  }

  /** Notifications of the program's servers so far: progress, log messages, changed lists. */
  get notifications(): ServerNotification[] {
    return this.agent.notifications;
  }

  /** Waits for the next notification with this method, such as `notifications/tools/list_changed`. */
  notification(method: string): Promise<ServerNotification> {
    return this.agent.takeNotification(method);
  }

  /** Calls a tool of one of the program's servers, as an agent does, and returns the result. */
  async callTool(server: string, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
    const id = ++this.#calls;
    const params = {
      name,
      arguments: args,
      _meta: { 'claudecode/toolUseId': `toolu_${id}`, progressToken: id },
    };
    const response = await this.mcp(server, { jsonrpc: '2.0', id, method: 'tools/call', params });
    if ('error' in response) throw new SdkError('control-failed', response.error.message);
    return response.result as CallToolResult;
  }

  /** Sends one JSON-RPC message to a server of the program and returns the JSON-RPC response. */
  async mcp(server: string, message: Frame): Promise<RpcResponse> {
    const { mcp_response } = await this.ask({ subtype: 'mcp_message', server_name: server, message });
    return mcp_response as RpcResponse;
  }

  /**
   * Sends a control request to the program, such as `can_use_tool`, `hook_callback` or `elicitation`. Returns the body of
   * the response or throws its error. Several requests can run at the same time.
   */
  async ask(request: Frame & { subtype: string }): Promise<Frame> {
    const id = `agent-${++this.#requests}`;
    const answered = this.agent.takeAnswer(id);
    this.agent.emit(requestFrame(id, request));
    const frame = await answered;
    const response = frame.response as Frame;
    if (response.subtype === 'error') throw new SdkError('control-failed', String(response.error));
    return (response.response ?? {}) as Frame;
  }

  /** Receives a control request of the program (`interrupt`, `set_model`, …), answers it and returns it. */
  async answer(subtype: string, outcome: Frame | { error: string } = {}): Promise<Frame> {
    const frame = await this.agent.take({ type: 'control_request', request: { subtype } });
    const id = String(frame.request_id);
    const failure = typeof outcome.error === 'string' ? outcome.error : undefined;
    this.agent.emit(failure === undefined ? successFrame(id, outcome) : failureFrame(id, failure));
    return frame.request as Frame;
  }

  /** Sends an assistant message. */
  assistant(text: string): void {
    this.agent.emit({
      type: 'assistant',
      message: { id: 'msg', type: 'message', role: 'assistant', content: [{ type: 'text', text }] },
      parent_tool_use_id: null,
      session_id: SESSION,
      uuid: SESSION,
    });
  }

  /** Ends the turn. */
  result(text: string, more: Frame = {}): void {
    this.agent.emit({
      type: 'result',
      subtype: 'success',
      is_error: false,
      duration_ms: 1,
      duration_api_ms: 1,
      num_turns: 1,
      result: text,
      stop_reason: 'end_turn',
      total_cost_usd: 0,
      usage: { input_tokens: 0, output_tokens: 0 },
      modelUsage: {},
      permission_denials: [],
      session_id: SESSION,
      uuid: SESSION,
      ...more,
    });
  }

  /**
   * Waits until the program has closed its side, then closes the agent's side, as an agent does at the end of its input.
   * Fails if a prompt got no result, since the program would wait for it forever.
   */
  async finish(): Promise<void> {
    const prompt = this.#unanswered();
    if (prompt !== undefined && !this.agent.hasEnded) {
      throw new SdkError(
        'script-mismatch',
        `The script ended without a result for the prompt ${JSON.stringify(prompt)}: end the turn with result()`,
      );
    }
    await this.agent.ended();
    this.agent.leave();
  }

  #unanswered(): string | undefined {
    if (!this.#turn) return undefined;
    const { prompt, at } = this.#turn;
    return this.agent.emitted.slice(at).some((frame) => frame.type === 'result') ? undefined : prompt;
  }
}

/**
 * Creates a scripted agent for one test. `play` runs concurrently with the program; await `played` of the result
 * to see its failures.
 */
export function scriptAgent(
  play: (agent: AgentScript) => Promise<void> | void,
): Required<Pick<Options, 'link'>> & { readonly played: Promise<void>; readonly script: AgentScript } {
  const script = new AgentScript();
  const played = playThrough(script, play);
  played.catch(() => {});
  return { link: script.options.link, played, script };
}

/** Reports a failure of the script to the program too, so that it does not wait for an agent that has ended. */
async function playThrough(script: AgentScript, play: (agent: AgentScript) => Promise<void> | void) {
  try {
    await play(script);
    await script.finish();
  } catch (cause) {
    script.agent.leave(cause as Error);
    throw cause;
  }
}
