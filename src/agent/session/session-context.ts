import { randomUUID } from 'node:crypto';
import type { ControlAnswer, ControlChannel } from '../../control/channel.ts';
import { spawnShell } from '../../hooks/command-hook.ts';
import { SessionHooks } from '../../hooks/session-hooks.ts';
import { memoryJournal } from '../../mcp/calls/journal.ts';
import type { ConnectContext, SdkPort } from '../../mcp/connection/connect-context.ts';
import { Features } from '../../mcp/features/features.ts';
import type { Asker } from '../../permissions/ask.ts';
import { matchesCall } from '../../permissions/match.ts';
import { patternOf, type Workspace } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import { memoryRuleStore, modeOf, type RuleSet, type RuleStore } from '../../permissions/rule-store.ts';
import { toolBudget } from '../../pool/disclosure.ts';
import { PinWatch } from '../../pool/pinning/pin-watch.ts';
import { processPins } from '../../pool/pinning/pins.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { FileCheckpoints } from '../builtins/files/file-checkpoints.ts';
import { FileMemory } from '../builtins/files/file-memory.ts';
import { BackgroundProcesses } from '../builtins/shell/background-processes.ts';
import type { StructuredOutput } from '../builtins/structured-output.ts';
import { BUILT_INS } from '../builtins/table.ts';
import { WakeQueue } from '../builtins/wake-queue.ts';
import type { SessionContext } from '../calls/call-context.ts';
import type { UsageTotals } from '../models/usage-totals.ts';
import {
  keepResults,
  lastingStore,
  type ResultKeeping,
  realDirectory,
  temporaryStore,
} from '../results/result-files.ts';
import type { Transcript } from '../transcript/transcript.ts';
import { serverRequestHandlers } from './server-requests.ts';
import type { SessionOptions } from './session.ts';
import type { SessionStateTracker } from './turn-queue.ts';

/** The rule store of the options, or one in memory with the rules, mode and directories of the options. */
export function createRuleStore({ ruleStore, rules, permissionMode, workspace }: SessionOptions): RuleStore {
  return (
    ruleStore ??
    memoryRuleStore({
      rules,
      modes: permissionMode ? { cliArg: permissionMode } : {},
      directories: workspace.directories.map((path) => ({ path, source: 'cliArg' as const })),
    })
  );
}

/** The hooks of a session: callbacks of the program run over the channel, commands of settings in a shell. */
export function createHooks(
  options: SessionOptions,
  session: {
    readonly rules: RuleStore;
    id(): string;
    transcript(): Transcript | undefined;
    promptId(): string;
    channel(): ControlChannel;
  },
): SessionHooks {
  const { workspace, connect, shellEnv = connect.env, hooks = [], note } = options;
  return new SessionHooks({
    hooks,
    base: () => ({
      session_id: session.id(),
      transcript_path: session.transcript()?.path ?? '',
      cwd: workspace.cwd,
      prompt_id: session.promptId(),
      permission_mode: modeOf(session.rules.current()),
    }),
    context: {
      callback: async (callback, input, toolUseId, signal) => {
        const body = {
          subtype: 'hook_callback',
          callback_id: callback,
          input,
          tool_use_id: toolUseId ?? randomUUID(),
        };
        return (await session.channel().request(body, { signal })).response;
      },
      spawn: spawnShell({ cwd: workspace.cwd, env: { ...shellEnv } }),
      home: workspace.home,
    },
    onFailure: ({ hook, message }) => note?.(`a ${hook.event} hook failed: ${message}`),
    onMessage: (message) => note?.(message),
  });
}

/** What connections need: how to reach servers in the program, and the handlers of servers' requests. */
export function createConnectDeps(
  { connect, model, workspace, note }: SessionOptions,
  session: {
    readonly modelName: string;
    readonly hooks: SessionHooks;
    readonly ports: ProgramPorts;
    readonly state: SessionStateTracker;
    readonly channel: ControlChannel;
    addUsage(model: string, usage: Usage): void;
  },
): ConnectContext {
  return {
    ...connect,
    openPort: (server) => session.ports.open(server),
    onRequestRefused: (server, message) => note?.(`MCP server "${server}": ${message}`),
    clientFeatures: (server, entry) =>
      serverRequestHandlers(server, entry, {
        channel: () => session.channel,
        hooks: session.hooks,
        model,
        modelName: () => session.modelName,
        cwd: workspace.cwd,
        whileWaiting: (work) => session.state.whileWaiting(work),
        onUsage: (name, usage) => session.addUsage(name, usage),
      }),
  };
}

export function createSessionContext(
  options: SessionOptions,
  session: Pick<
    SessionContext,
    'servers' | 'hooks' | 'rules' | 'agents' | 'emit' | 'readerReady' | 'whileWaiting'
  > & {
    channel(): ControlChannel;
    output(): StructuredOutput | undefined;
    readonly ownUsage: UsageTotals;
  },
): SessionContext {
  const { workspace, asksProgram = true, askers = [], builtIns } = options;
  const { channel, output, ownUsage, ...shared } = session;
  const { maxBudgetUsd } = options;
  const offered = BUILT_INS.filter(({ listed }) => !builtIns || builtIns.includes(listed.name));
  const results = createResultKeeping(options);
  const { directory } = results.store;
  const rules = withReadableResults(session.rules, [directory, ...earlierResults(options)], workspace);
  return {
    ...shared,
    rules,
    model: options.model,
    ...(options.configured && { configured: options.configured }),
    mayBypass: options.mayBypass === true,
    pins: sessionPins(options),
    askers: [...(asksProgram ? [programAsker(channel)] : []), ...askers],
    get builtIns() {
      const { tool } = output() ?? {};
      return tool ? [...offered, tool] : offered;
    },
    reportsDecisions: options.reportsDecisions === true,
    hasMarks: options.marks === true,
    note: (text) => options.note?.(text),
    toolBudget: toolBudget(
      options.toolSearch,
      Math.min(options.model.limits.contextTokens, MAX_BUDGETED_WINDOW),
    ),
    ...(maxBudgetUsd !== undefined && { budgetFault: () => budgetFault(ownUsage, maxBudgetUsd) }),
    isLeadOnly: options.leadOnly === true,
    workspace: () => ({
      ...workspace,
      directories: session.rules.current().directories.map(({ path }) => path),
    }),
    env: options.shellEnv ?? options.connect.env,
    features: new Features(session.servers, {
      onWarning: (server, message) => options.note?.(`MCP server "${server}": ${message}`),
    }),
    journal: memoryJournal(),
    callLimits: options.callLimits ?? {},
    files: new FileMemory(),
    checkpoints: options.fileCheckpoints
      ? new FileCheckpoints(checkpointFolder(options.transcript))
      : undefined,
    wake: new WakeQueue(),
    background: new BackgroundProcesses(results.store),
    results: { ...results, mayRead: () => canReadResults(rules.current().rules, directory, workspace) },
  };
}

function sessionPins({ pins = processPins(), connect, note }: SessionOptions): PinWatch {
  return new PinWatch(pins, connect.cwd, {
    changed: ({ server, tool, text }) =>
      note?.(`warning: the definition of tool "${tool}" of server "${server}" is not accepted: ${text}`),
    added: (server, changes) => {
      const names = changes.slice(0, 5).map(({ tool }) => `"${tool}"`);
      const rest = changes.length > 5 ? ` and ${changes.length - 5} more` : '';
      note?.(
        `server "${server}" has new tools since its tools were accepted: ${names.join(', ')}${rest}; each new tool requires approval before it runs`,
      );
    },
    remark: (server, message) => note?.(`server "${server}": ${message}`),
  });
}

/** Long and binary results are stored beside the transcript; a session without one removes them at its end. */
function createResultKeeping({
  resultsDirectory,
  transcript,
  maxResultTokens,
  resultFiles,
}: Pick<
  SessionOptions,
  'resultsDirectory' | 'transcript' | 'maxResultTokens' | 'resultFiles'
>): ResultKeeping {
  const directory = resultsDirectory ?? (transcript && besideTranscript(transcript.path));
  return keepResults(directory === undefined ? temporaryStore() : lastingStore(directory), {
    ...(maxResultTokens !== undefined && { maxTokens: maxResultTokens }),
    ...(resultFiles !== undefined && { hasFiles: resultFiles }),
  });
}

/** A window of which tool definitions may take a share; in a larger one they would cost too much with each request. */
const MAX_BUDGETED_WINDOW = 200_000;

/** Why the cost of the session ends a turn; an unknown cost does, because it may exceed every budget. */
function budgetFault(totals: UsageTotals, maxUsd: number): string | undefined {
  const { costUsd, unpriced } = totals;
  if (costUsd === undefined) {
    return `The maximum budget ($${maxUsd}) cannot be checked: the prices of the model "${unpriced}" are unknown`;
  }
  return costUsd >= maxUsd ? `Reached maximum budget ($${maxUsd})` : undefined;
}

/** The result directories of the conversations that this one was resumed from; its messages refer to files there. */
function earlierResults({ resumedFrom = [] }: Pick<SessionOptions, 'resumedFrom'>): string[] {
  return resumedFrom.map((path) => realDirectory(besideTranscript(path)));
}

/** The results of `…/<session>.jsonl` are in `…/<session>/tool-results`. */
function besideTranscript(path: string): string {
  return `${path.replace(/\.jsonl$/, '')}/tool-results`;
}

/** The checkpoints of `…/<session>.jsonl` are in `…/<session>/file-history`; undefined without a transcript. */
export function checkpointFolder(transcript: Transcript | undefined): string | undefined {
  return transcript && `${transcript.path.replace(/\.jsonl$/, '')}/file-history`;
}

/**
 * Adds rules that allow reading the stored results of the session and of those it was resumed from: the model got them in
 * answer to a call. These rules cannot be removed; deny and ask rules win over them.
 */
export function withReadableResults(
  store: RuleStore,
  directories: readonly string[],
  workspace: Workspace,
): RuleStore {
  const added = directories.map(
    (directory): Rule => ({
      tool: 'Read',
      content: patternOf(directory, workspace),
      effect: 'allow',
      source: 'session',
    }),
  );
  let last: { readonly given: RuleSet; readonly set: RuleSet } | undefined;
  return {
    apply: store.apply,
    ...(store.keeps && { keeps: store.keeps }),
    // The same array while the rules are unchanged: caches compare it by identity.
    current: () => {
      const given = store.current();
      if (last?.given.rules === given.rules) {
        last = { given, set: { ...given, rules: last.set.rules } };
      } else {
        last = { given, set: { ...given, rules: [...given.rules, ...added] } };
      }
      return last.set;
    },
  };
}

/** Whether no deny rule covers the stored results in the directory. */
export function canReadResults(rules: readonly Rule[], directory: string, workspace: Workspace): boolean {
  const call = { name: 'Read', input: { file_path: `${directory}/${'0'.repeat(32)}.txt` } };
  return !rules.some((rule) => rule.effect === 'deny' && matchesCall(rule, call, workspace));
}

/** Asks the program by `can_use_tool`. A request that fails is a denial. */
function programAsker(channel: () => ControlChannel): Asker {
  return {
    name: 'canUseTool',
    ask: async (question, signal) => {
      const { call, toolUseId, reason, suggestions, provenance, agentId, displayName } = question;
      const body = {
        subtype: 'can_use_tool',
        tool_name: call.name,
        ...(provenance && { mcp_server: provenance }),
        ...(displayName !== undefined && { display_name: displayName }),
        input: call.input,
        ...(suggestions.length > 0 && { permission_suggestions: suggestions }),
        decision_reason: reason.text,
        ...(reason.rule && { decision_reason_type: 'rule' }),
        ...(reason.annotation === 'requiresUserInteraction' && { requires_user_interaction: true }),
        // An allow rule would have no effect: an ask rule wins over it.
        ...((reason.rule || reason.annotation === 'requiresUserInteraction') && {
          suppress_always_allow_rule: true,
        }),
        ...(reason.changed && { tool_change: { server: call.server, tool: call.tool } }),
        tool_use_id: toolUseId,
        ...(agentId !== undefined && { agent_id: agentId }),
      };
      try {
        return (await channel().request(body, { signal })).response;
      } catch (cause) {
        if (signal.aborted) throw cause;
        return { behavior: 'deny', message: `Tool permission request failed: Error: ${messageOf(cause)}` };
      }
    },
  };
}

/** The connections to servers in the program: each message to a server is a control request. */
export class ProgramPorts {
  readonly #request: ProgramRequest;
  readonly #listeners = new Map<string, (message: unknown) => void>();

  constructor(request: ProgramRequest) {
    this.#request = request;
  }

  open(server: string): SdkPort {
    return {
      send: async (message, signal) => {
        const body = { subtype: 'mcp_message', server_name: server, message: message as unknown as Frame };
        return (await this.#request(body, signal)).response.mcp_response;
      },
      listen: (receive) => {
        this.#listeners.set(server, receive);
        return () => {
          // A later connection may have registered under the same name.
          if (this.#listeners.get(server) === receive) this.#listeners.delete(server);
        };
      },
    };
  }

  /** Passes on a message that a server sent on its own initiative. */
  deliver(server: string, message: unknown): void {
    this.#listeners.get(server)?.(message);
  }
}

type ProgramRequest = (body: Frame & { subtype: string }, signal: AbortSignal) => Promise<ControlAnswer>;
