import { randomUUID } from 'node:crypto';
import { untilAborted } from '../../base/async/timers.ts';
import { isEqualJson } from '../../base/json-value.ts';
import type { PermissionRelay } from '../../channels/permission-relay.ts';
import type { ControlChannel } from '../../control/channel.ts';
import { spawnShell } from '../../hooks/command-hook.ts';
import { SessionHooks } from '../../hooks/session-hooks.ts';
import { memoryJournal } from '../../mcp/calls/journal.ts';
import { Features } from '../../mcp/features/features.ts';
import type { Asker } from '../../permissions/ask.ts';
import { matchesCall } from '../../permissions/match.ts';
import { patternOf, type Workspace } from '../../permissions/path.ts';
import type { Rule } from '../../permissions/rule.ts';
import { memoryRuleStore, modeOf, type RuleSet, type RuleStore } from '../../permissions/rule-store.ts';
import { toolBudget } from '../../pool/disclosure.ts';
import { PinWatch } from '../../pool/pinning/pin-watch.ts';
import { processPins } from '../../pool/pinning/pins.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { currentToolName } from '../../protocol/tool-name.ts';
import { FileCheckpoints } from '../builtins/files/file-checkpoints.ts';
import { FileMemory } from '../builtins/files/file-memory.ts';
import { BackgroundProcesses } from '../builtins/shell/background-processes.ts';
import type { StructuredOutput } from '../builtins/structured-output.ts';
import { type BuiltInGates, offeredBuiltIns } from '../builtins/table.ts';
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
import type { SkillTurn } from '../skills/skill-turn.ts';
import { WorkingDirectory } from '../tasks/working-directory.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { SessionOptions } from './session.ts';

/**
 * The rule store of the options, or one in memory with the rules, mode and directories of the options. `onDirectories` is
 * called when the directories have changed, `onMode` when the mode has.
 */
export function createRuleStore(
  { ruleStore, rules, permissionMode, workspace }: SessionOptions,
  onDirectories: () => void,
  onMode: (before: PermissionMode, after: PermissionMode) => void = () => {},
): RuleStore {
  const store =
    ruleStore ??
    memoryRuleStore({
      rules,
      modes: permissionMode ? { cliArg: permissionMode } : {},
      directories: workspace.directories.map((path) => ({ path, source: 'cliArg' as const })),
    });
  const paths = () => store.current().directories.map(({ path }) => path);
  return {
    ...(store.keeps && { keeps: store.keeps }),
    current: () => store.current(),
    async apply(updates) {
      const before = paths();
      const mode = modeOf(store.current());
      const rejected = await store.apply(updates);
      if (!isEqualJson(before, paths())) onDirectories();
      const next = modeOf(store.current());
      if (next !== mode) onMode(mode, next);
      return rejected;
    },
  };
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
    /** The directory of the project, or of the worktree that the session has entered. */
    directory(): string;
  },
): SessionHooks {
  const { workspace, connect, shellEnv = connect.env, hooks = [], note } = options;
  return new SessionHooks({
    hooks,
    base: () => ({
      session_id: session.id(),
      transcript_path: session.transcript()?.path ?? '',
      cwd: session.directory(),
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

export function createSessionContext(
  options: SessionOptions,
  session: Pick<
    SessionContext,
    | 'servers'
    | 'hooks'
    | 'rules'
    | 'agents'
    | 'emit'
    | 'readerReady'
    | 'whileWaiting'
    | 'isWaiting'
    | 'watch'
    | 'tasks'
    | 'services'
  > & {
    channel(): ControlChannel;
    output(): StructuredOutput | undefined;
    /** Asks for permission through channels, if there are any. */
    relay(): Pick<PermissionRelay, 'asker' | 'ready'> | undefined;
    readonly ownUsage: UsageTotals;
    /** What skills have changed for the lead. */
    readonly skillTurn: SkillTurn;
  },
): SessionContext {
  const { workspace, asksProgram = true, askers = [], builtIns } = options;
  const { channel, output, relay, ownUsage, skillTurn, ...shared } = session;
  const { maxBudgetUsd } = options;
  const offered = offeredBuiltIns({
    names: builtIns?.map(currentToolName),
    hasBackgroundTasks: options.backgroundTasks !== false,
    hasPerson: asksProgram,
    lists: listGate(options),
    hasSchedule: options.schedule?.isDisabled !== true,
    hasTeams: hasTeams(options),
    canSearchWeb: options.model.canSearch?.(options.modelName) ?? false,
  });
  const results = createResultKeeping(options);
  const project = () => ({
    ...workspace,
    directories: session.rules.current().directories.map(({ path }) => path),
  });
  const directory = new WorkingDirectory(project);
  const stored = results.store.directory;
  const readable = [stored, ...transcriptFolders(options), ...earlierResults(options)];
  const editable = (options.memory?.autoFolders ?? []).slice(0, 1).map(realDirectory);
  const planFile = () => session.services.planMode?.announcedFile;
  const sharedRules = withReadableResults(
    session.rules,
    [...readable, ...memoryFolders(options)],
    workspace,
    {
      directories: editable,
      planFile,
    },
  );
  const rules = skillTurn.over(sharedRules);
  return {
    ...shared,
    rules,
    sharedRules,
    model: options.model,
    ...(options.configured && { configured: options.configured }),
    mayBypass: options.mayBypass === true,
    pins: sessionPins(options),
    get askers() {
      if (options.deniesPrompts === true) return [];
      const { asker } = relay() ?? {};
      return [...(asksProgram ? [programAsker(channel)] : []), ...askers, ...(asker ? [asker] : [])];
    },
    async askersReady(signal) {
      if (options.deniesPrompts === true || (asksProgram && options.awaitsChannels !== true)) return;
      await untilAborted(relay()?.ready() ?? Promise.resolve(), signal).catch(() => {});
    },
    get builtIns() {
      const { tool } = output() ?? {};
      return tool ? [...offered, tool] : offered;
    },
    reportsDecisions: options.reportsDecisions === true,
    effortOf: options.effortOf ?? ((_, requested) => requested),
    hasMarks: options.marks === true,
    note: (text) => options.note?.(text),
    toolBudget: toolBudget(
      options.toolSearch,
      Math.min(options.model.limits.contextTokens, MAX_BUDGETED_WINDOW),
    ),
    ...(maxBudgetUsd !== undefined && { budgetError: () => budgetError(ownUsage, maxBudgetUsd) }),
    isLeadOnly: options.leadOnly === true,
    directory,
    workspace: () => ({ ...project(), ...directory.members }),
    env: options.shellEnv ?? options.connect.env,
    features: new Features(session.servers, {
      onWarning: (server, message) => options.note?.(`MCP server "${server}": ${message}`),
    }),
    journal: memoryJournal(),
    callLimits: options.callLimits ?? {},
    backgroundCallsAfterMs: options.backgroundTasks === false ? undefined : options.backgroundCallsAfterMs,
    files: new FileMemory(),
    checkpoints: options.fileCheckpoints
      ? new FileCheckpoints(checkpointFolder(options.transcript))
      : undefined,
    wake: new WakeQueue(),
    background: new BackgroundProcesses(results.store),
    results: { ...results, mayRead: () => canReadResults(rules.current().rules, stored, workspace) },
  };
}

/** Whether named agents form a team: they work in the background, on tasks. */
export function hasTeams({ teams, backgroundTasks, lists }: SessionOptions): boolean {
  return teams === true && backgroundTasks !== false && lists?.kind !== 'todos';
}

/** Older models are offered the tools for lists by default, others with teams or if an allow rule of the program names one of them. */
function listGate({ lists, modelName, rules, teams }: SessionOptions): BuiltInGates['lists'] {
  const isNamed = rules.some(
    ({ tool, effect, source }) => effect === 'allow' && source === 'cliArg' && LIST_TOOLS.has(tool),
  );
  return {
    kind: lists?.kind ?? 'tasks',
    isDefault: teams === true || isNamed || usesListsByDefault(modelName),
  };
}

const LIST_TOOLS: ReadonlySet<string> = new Set([
  'TaskCreate',
  'TaskGet',
  'TaskList',
  'TaskUpdate',
  'TodoWrite',
]);

/**
 * Whether a model gets the tools for lists by default: Claude models up to version 4.7. Newer models track their work
 * without a list.
 */
export function usesListsByDefault(modelName: string): boolean {
  if (/\bclaude-3\b/.test(modelName)) return true;
  const [, major, minor = '0'] =
    /\bclaude-(?:opus|sonnet|haiku)-(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?/.exec(modelName) ?? [];
  return major !== undefined && (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 8));
}

function sessionPins({ pins = processPins(), connect, note }: SessionOptions): PinWatch {
  return new PinWatch(pins, connect.cwd, {
    changed: ({ server, tool, text }) =>
      note?.(`warning: tool "${tool}" of server "${server}" requires approval: ${text}`),
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

/** The budget for tool definitions is a share of the context window, but of at most this many tokens: definitions are sent with each request. */
const MAX_BUDGETED_WINDOW = 200_000;

/** The error that ends the turn if the budget is used up, or if the cost is unknown and may exceed the budget. */
function budgetError(totals: UsageTotals, maxUsd: number): string | undefined {
  const { costUsd, unpriced } = totals;
  if (costUsd === undefined) {
    return `The maximum budget ($${maxUsd}) cannot be checked: the prices of the model "${unpriced}" are unknown; limit the number of model requests with maxTurns instead`;
  }
  return costUsd >= maxUsd ? `Reached maximum budget ($${maxUsd})` : undefined;
}

/** The result directories of the conversations that this one was resumed from; its messages refer to files there. */
function earlierResults({ resumedFrom = [] }: Pick<SessionOptions, 'resumedFrom'>): string[] {
  return resumedFrom.map((path) => realDirectory(besideTranscript(path)));
}

/** The auto-memory folders, which the model may read without approval. */
function memoryFolders({ memory }: Pick<SessionOptions, 'memory'>): string[] {
  return (memory?.autoFolders ?? []).map(realDirectory);
}

/** The folder with the transcripts of sub-agents, which are their output files. */
function transcriptFolders({ transcript }: Pick<SessionOptions, 'transcript'>): string[] {
  return transcript ? [realDirectory(`${transcript.path.replace(/\.jsonl$/, '')}/subagents`)] : [];
}

/** The results of `…/<session>.jsonl` are in `…/<session>/tool-results`. */
function besideTranscript(path: string): string {
  return `${path.replace(/\.jsonl$/, '')}/tool-results`;
}

/** The checkpoints of `…/<session>.jsonl` are in `…/<session>/file-history`; undefined without a transcript. */
export function checkpointFolder(transcript: Transcript | undefined): string | undefined {
  return transcript && `${transcript.path.replace(/\.jsonl$/, '')}/file-history`;
}

/** What a session may change without approval besides its results. */
type EditableFiles = {
  readonly directories?: readonly string[];
  readonly planFile?: () => string | undefined;
};

/**
 * Adds rules that allow reading the stored results of the session and of those it was resumed from: the model got them in
 * answer to a call. The editable directories and the plan file may also be changed, the plan file also in plan mode. These
 * rules cannot be removed; deny and ask rules win over them.
 */
export function withReadableResults(
  store: RuleStore,
  directories: readonly string[],
  workspace: Workspace,
  { directories: editable = [], planFile = () => undefined }: EditableFiles = {},
): RuleStore {
  const allowing = (tool: string, path: string): Rule => ({
    tool,
    content: patternOf(path, workspace),
    effect: 'allow',
    source: 'session',
  });
  const lasting = [
    ...directories.map((directory) => allowing('Read', directory)),
    ...editable.map((directory) => allowing('Edit', directory)),
  ];
  let last:
    | { readonly given: RuleSet; readonly plan?: string | undefined; readonly set: RuleSet }
    | undefined;
  return {
    apply: store.apply,
    ...(store.keeps && { keeps: store.keeps }),
    // The same array while the rules are unchanged: caches compare it by identity.
    current: () => {
      const given = store.current();
      const plan = planFile();
      if (last?.given.rules === given.rules && last.plan === plan) {
        last = { given, plan, set: { ...given, rules: last.set.rules } };
      } else {
        const added = plan === undefined ? [] : [allowing('Read', plan), allowing('Edit', plan)];
        last = { given, plan, set: { ...given, rules: [...given.rules, ...lasting, ...added] } };
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
      const { call, toolUseId, reason, suggestions, provenance, agentId, relayedTo } = question;
      const { displayName, description, blockedPath } = question;
      const body = {
        subtype: 'can_use_tool',
        tool_name: call.name,
        ...(provenance && { mcp_server: provenance }),
        ...(displayName !== undefined && { display_name: displayName }),
        ...(description !== undefined && { description }),
        ...(blockedPath !== undefined && { blocked_path: blockedPath }),
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
        ...(relayedTo && { relayed_to: relayedTo }),
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
