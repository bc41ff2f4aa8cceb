import { randomUUID } from 'node:crypto';
import type { ControlChannel } from '../../control/channel.ts';
import { SessionHooks } from '../../hooks/session-hooks.ts';
import { spawnShell } from '../../hooks/spawn-shell.ts';
import { memoryJournal } from '../../mcp/calls/journal.ts';
import type { ConnectWorld } from '../../mcp/connection/world.ts';
import { Features } from '../../mcp/features/features.ts';
import { memoryRuleStore, modeOf, type RuleStore } from '../../permissions/rule-store.ts';
import { PinWatch } from '../../pool/pinning/pin-watch.ts';
import { passingPins } from '../../pool/pinning/pins.ts';
import { toolBudget } from '../../pool/tool-budget.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import { FileMemory } from '../builtins/files/file-memory.ts';
import { LeftOvers } from '../builtins/shell/left-overs.ts';
import { BUILT_INS } from '../builtins/table.ts';
import { WakeQueue } from '../builtins/wake-queue.ts';
import { earlierResults, makeResults } from './make-results.ts';
import { programAsker } from './program-asker.ts';
import type { ProgramPorts } from './program-ports.ts';
import { mayReadResults, withReadableResults } from './readable-results.ts';
import { offerTo } from './server-offers.ts';
import type { SessionOptions } from './session-options.ts';
import type { SessionWorld } from './session-world.ts';
import type { StateTeller } from './state-teller.ts';

/** The rules and directories a session begins with. */
export function makeRules({ ruleStore, rules, permissionMode, workspace }: SessionOptions): RuleStore {
  return (
    ruleStore ??
    memoryRuleStore({
      rules,
      modes: permissionMode ? { cliArg: permissionMode } : {},
      directories: workspace.directories.map((path) => ({ path, source: 'cliArg' as const })),
    })
  );
}

/** The hooks of a session: those of the program are called over the channel, those of settings in a shell. */
export function makeHooks(
  options: SessionOptions,
  session: { readonly id: string; readonly rules: RuleStore; promptId(): string; channel(): ControlChannel },
): SessionHooks {
  const { workspace, connect, shellEnv = connect.env, hooks = [], transcript, note } = options;
  return new SessionHooks({
    hooks,
    base: () => ({
      session_id: session.id,
      transcript_path: transcript?.path ?? '',
      cwd: workspace.cwd,
      prompt_id: session.promptId(),
      permission_mode: modeOf(session.rules.current()),
    }),
    world: {
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
    },
    onFailure: ({ hook, message }) => note?.(`a ${hook.event} hook failed: ${message}`),
    onMessage: (message) => note?.(message),
  });
}

/** How a session reaches servers, and who answers what they ask. */
export function makeConnectWorld(
  { connect, model, workspace, note }: SessionOptions,
  session: {
    readonly modelName: string;
    readonly hooks: SessionHooks;
    readonly ports: ProgramPorts;
    readonly state: StateTeller;
    readonly channel: ControlChannel;
    spend(model: string, usage: Usage): void;
  },
): ConnectWorld {
  return {
    ...connect,
    openPort: (server) => session.ports.open(server),
    onRefused: (server, message) => note?.(`MCP server "${server}": ${message}`),
    offerTo: (server, entry) =>
      offerTo(server, entry, {
        channel: () => session.channel,
        hooks: session.hooks,
        model,
        modelName: () => session.modelName,
        cwd: workspace.cwd,
        waiting: (work) => session.state.waiting(work),
        spent: (name, usage) => session.spend(name, usage),
      }),
  };
}

/** What a session's lead and sub-agents share. */
export function makeWorld(
  options: SessionOptions,
  session: Pick<
    SessionWorld,
    'servers' | 'hooks' | 'rules' | 'agents' | 'say' | 'readerReady' | 'waiting'
  > & {
    channel(): ControlChannel;
  },
): SessionWorld {
  const { workspace, asksProgram = true, askers = [], builtIns } = options;
  const { channel, ...shared } = session;
  const results = makeResults(options);
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
    builtIns: BUILT_INS.filter(({ listed }) => !builtIns || builtIns.includes(listed.name)),
    tellsDecisions: options.tellsDecisions === true,
    hasMarks: options.marks === true,
    note: (text) => options.note?.(text),
    toolBudget: toolBudget(options.toolSearch, options.model.limits.contextTokens),
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
    wake: new WakeQueue(),
    leftOvers: new LeftOvers(results.store),
    results: { ...results, mayRead: () => mayReadResults(rules.current().rules, directory, workspace) },
  };
}

function sessionPins({ pins = passingPins(), connect, note }: SessionOptions): PinWatch {
  return new PinWatch(pins, connect.cwd, {
    changed: ({ server, tool, text }) =>
      note?.(`warning: tool "${tool}" of server "${server}" is not what was accepted: ${text}`),
    added: (server, changes) => {
      const names = changes.slice(0, 5).map(({ tool }) => `"${tool}"`);
      const rest = changes.length > 5 ? ` and ${changes.length - 5} more` : '';
      note?.(
        `server "${server}": new tools since it was accepted: ${names.join(', ')}${rest}; each is asked about before it runs`,
      );
    },
    remark: (server, message) => note?.(`server "${server}": ${message}`),
  });
}
