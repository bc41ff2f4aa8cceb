import { isRecord } from '../../base/json-value.ts';
import { nearest } from '../../base/text/nearest.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ModelInfo } from '../../protocol/system-message.ts';
import { isMcpToolName, mcpToolName } from '../../protocol/tool-name.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import type { McpServerStatus } from '../../sdk/control-responses.ts';
import type { Options } from '../../sdk/options/options.ts';
import type { Choice } from '../terminal/line-editor.ts';
import { line, type Piece } from '../terminal/render.ts';
import { sanitizeLine } from '../terminal/terminal-text.ts';
import { endpointModels } from './actions/models.ts';
import { findConversation, resumeChoices, type StoredConversations } from './actions/resume.ts';
import { contextReport, usageText } from './actions/usage.ts';
import type { CommandEntry } from './live/completions.ts';
import { MCP_USAGE, mcpCommand } from './mcp-command.ts';
import type { Call, CallLog, View } from './view.ts';

/** The context of a slash command. */
export type CommandContext = {
  readonly client: AgentClient;
  readonly view: View;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Stored conversations; undefined if none are kept. */
  readonly conversations: StoredConversations | undefined;
  /** The open conversation, once it has a turn. */
  readonly sessionId: string | undefined;
  /** Starts a new conversation, or resumes a stored one and shows its messages. */
  restart(resume?: string): Promise<void>;
  /** The sources of configuration and memory files; all by default. */
  readonly settingSources?: readonly string[];
  /** Keeps a setting for new conversations. */
  keep(choice: { model?: string; permissionMode?: PermissionMode }, shownModel?: string): void;
  /** Lets the user choose from a list; undefined if the user cancels or there is no terminal. */
  choose(prompt: string, choices: readonly Choice[]): Promise<number | undefined>;
  print(pieces: readonly Piece[]): void;
};

export type Command = {
  /** The argument, as the help shows it. */
  readonly takes: string;
  readonly description: string;
  /** The command cannot run while a question is open. */
  readonly isBetweenTurns?: true;
  run(
    context: CommandContext,
    argument: string,
  ): Promise<readonly Piece[] | 'leave'> | readonly Piece[] | 'leave';
};

/** The commands of the chat, by name. */
export const COMMANDS = {
  help: { takes: '', description: 'list the commands', run: ({ view }) => helpText(view.commands) },
  mcp: {
    takes: MCP_USAGE,
    description: 'server status; add, reconnect, enable, disable, sign in to or sign out of a server',
    run: ({ client, env }, argument) => mcpCommand(client, argument, { env }),
  },
  tools: {
    takes: '',
    description: 'tools by server, with their annotations',
    run: async ({ client, view }) =>
      toolList(await client.mcpServerStatus(), await offeredTools(client, view)),
  },
  team: {
    takes: '',
    description: 'teammates with their state and current task',
    run: ({ view }) => teamText(view.team),
  },
  cost: {
    takes: '',
    description: 'tokens, turns and cost so far',
    run: async ({ client, view }) =>
      // Not every agent reports its context usage.
      usageText(view.totals, await client.getContextUsage({ detail: 'summary' }).catch(() => undefined)),
  },
  context: {
    takes: '',
    description: 'what fills the context window',
    run: async ({ client }) => contextReport(await client.getContextUsage()),
  },
  explain: {
    takes: '[tool|last]',
    description: 'why a call was allowed, required approval or was denied',
    run: ({ view }, argument) => explain(view.calls, argument),
  },
  memory: {
    takes: '',
    description: 'memory files of a new conversation, with their tokens',
    run: async ({ settingSources }) =>
      (await import('../commands/explain/explain-memory.ts')).memoryList(settingSources),
  },
  model: { takes: '[name]', description: 'show or change the model', run: chooseModel },
  mode: {
    takes: '[mode]',
    description: `show or change the permission mode: ${PERMISSION_MODES.join(', ')}`,
    run: chooseMode,
  },
  resume: {
    takes: '[id|text]',
    description: 'choose an earlier conversation of this directory and continue it',
    isBetweenTurns: true,
    run: resume,
  },
  expand: {
    takes: '[n]',
    description: 'show the last shortened output in full (same as Ctrl-O), or the n-th most recent one',
    run: ({ view }, argument) => expand(view.folded, argument),
  },
  clear: {
    takes: '',
    description: 'start a new conversation',
    isBetweenTurns: true,
    async run({ restart }) {
      await restart();
      return [line(['New conversation.', 'dim'])];
    },
  },
  quit: { takes: '', description: 'leave, like Ctrl-D', run: () => 'leave' },
} as const satisfies Readonly<Record<string, Command>>;

/** The command with this name. */
function commandOf(name: string): Command | undefined {
  return Object.hasOwn(COMMANDS, name) ? (COMMANDS as Readonly<Record<string, Command>>)[name] : undefined;
}

/** All commands for completion: those of the chat, then those of the agent. */
export function commandEntries(agentCommands: readonly string[]): CommandEntry[] {
  const own = Object.entries<Command>(COMMANDS).map(([name, { takes, description }]) => ({
    name,
    description,
    takesArgument: takes !== '',
  }));
  const others = agentCommands.filter((name) => commandOf(name) === undefined);
  return [...own, ...others.map((name) => ({ name, description: 'from the agent', takesArgument: true }))];
}

/** Parses a line: a command of the chat, a prompt (agent commands included), or an unknown command. */
export function parseCommand(
  text: string,
  agentCommands: readonly string[],
):
  | { readonly kind: 'own'; readonly command: Command; readonly argument: string }
  | { readonly kind: 'prompt' }
  | { readonly kind: 'unknown'; readonly pieces: readonly Piece[] } {
  const [, name, argument = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  // A name with another slash is a path at the start of a prompt.
  if (name === undefined || name.includes('/')) return { kind: 'prompt' };
  const command = commandOf(name);
  if (command) return { kind: 'own', command, argument: argument.trim() };
  // MCP prompts may be newer than the agent's last list of commands.
  if (agentCommands.includes(name) || isMcpToolName(name)) return { kind: 'prompt' };
  const guess = closestCommand(name, [...Object.keys(COMMANDS), ...agentCommands]);
  const hint = guess === undefined ? '' : ` Did you mean /${guess}?`;
  return {
    kind: 'unknown',
    pieces: [line([`Unknown command /${name}.${hint} See /help.`, 'warn'])],
  };
}

/** Names that other programs use for these commands. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['exit', 'quit'],
  ['q', 'quit'],
  ['bye', 'quit'],
  ['servers', 'mcp'],
  ['new', 'clear'],
  ['reset', 'clear'],
  ['usage', 'cost'],
  ['continue', 'resume'],
  ['sessions', 'resume'],
  ['permissions', 'mode'],
  ['?', 'help'],
  ['commands', 'help'],
  ['why', 'explain'],
]);

/** The closest command: by synonym, prefix or edit distance. */
function closestCommand(typed: string, known: readonly string[]): string | undefined {
  const name = typed.toLowerCase();
  const begun = known.find((it) => it.startsWith(name) || (it.length > 2 && name.startsWith(it)));
  return SYNONYMS.get(name) ?? begun ?? nearest(name, known);
}

function helpText(agentCommands: readonly string[]): Piece[] {
  // Commands of the chat take precedence.
  const others = agentCommands.filter((name) => commandOf(name) === undefined);
  return [
    ...Object.entries<Command>(COMMANDS).map(([name, { takes, description }]): Piece => {
      const room = HELP_COLUMN - `  /${name} ${takes}`.length;
      // Long arguments have rows of their own.
      const gap = room > 0 ? ' '.repeat(room) : `\n${' '.repeat(HELP_COLUMN)}`;
      return {
        kind: 'line',
        overflow: 'wrap',
        hang: HELP_COLUMN,
        spans: ['  ', [`/${name}`, 'strong'], [` ${takes}`, 'dim'], gap, description],
      };
    }),
    ...(others.length > 0
      ? [line(['  from the agent: ', 'dim'], others.map((name) => `/${name}`).join(' '))]
      : []),
    ...KEYS.map(
      ([keys, does]): Piece => ({
        kind: 'line',
        overflow: 'wrap',
        hang: HELP_COLUMN,
        spans: [[`  ${keys}`.padEnd(HELP_COLUMN) + does, 'dim']],
      }),
    ),
  ];
}

const HELP_COLUMN = 24;

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['!command', 'run a shell command; its output becomes part of the conversation'],
  ['@path', 'complete the path of a file'],
  ['\\ Enter, Alt-Enter', 'start a new line'],
  ['Esc, Ctrl-C', 'interrupt the turn'],
  ['Shift-Tab', 'change the permission mode'],
  ['Up, Down, Ctrl-R', 'recall and search earlier messages'],
  ['Ctrl-O', 'show the whole last output'],
  ['Ctrl-D', 'leave'],
];

/** The tools that the model is offered; before the first turn, those that the agent counts. */
async function offeredTools(client: AgentClient, view: View): Promise<readonly string[]> {
  if (view.init.tools.length > 0) return view.init.tools;
  const usage = await client.getContextUsage().catch(() => undefined);
  const tools: unknown = usage?.systemTools;
  return Array.isArray(tools) ? tools.filter(isRecord).map(({ name }) => String(name)) : [];
}

/** A model that can be chosen; `resolved` is the model that a short name stands for. */
type OfferedModel = {
  readonly value: string;
  readonly resolved?: string | undefined;
  readonly description?: string | undefined;
};

async function chooseModel(
  { client, view, env, keep, choose }: CommandContext,
  name: string,
): Promise<Piece[]> {
  const known = ((await client.supportedModels()) ?? []).flatMap(offeredModel);
  const select = async (value: string) => {
    const { resolved = value } = known.find((it) => it.value === value) ?? {};
    await client.setModel(value);
    keep({ model: value }, resolved);
    return [line(`The next turn uses ${value}${resolved === value ? '' : ` (${resolved})`}.`)];
  };
  if (name !== '') return select(name);
  const current = view.init.model;
  // An agent that lists several models knows its endpoint better.
  const found = known.length > 1 ? { names: [] } : await endpointModels(current, env);
  const fault =
    'fault' in found && (current !== undefined || known.length === 0)
      ? [line([`  ${found.fault}`, 'warn'])]
      : [];
  const others = ('names' in found ? found.names : []).filter((it) =>
    known.every(({ value }) => value !== it),
  );
  const models: OfferedModel[] = [...others.map((value) => ({ value })), ...known];
  const isCurrent = ({ value, resolved }: OfferedModel) =>
    current !== undefined && (value === current || resolved === current);
  const first = models.filter(isCurrent);
  const own = current !== undefined && first.length === 0 ? [{ value: current }] : first;
  const rest = models.filter((it) => !isCurrent(it));
  const shown = [line(`Model: ${current ?? 'known after the first turn'}`), ...fault];
  if (rest.length === 0) return shown;
  const ordered: readonly OfferedModel[] = [...own, ...rest];
  const index = await choose(
    'Model for the next turns',
    ordered.map((it) => ({
      label: it.value,
      detail: [...(isCurrent(it) ? ['current'] : []), ...(it.description ? [it.description] : [])].join(
        ' · ',
      ),
    })),
  );
  const chosen = index === undefined ? undefined : ordered[index];
  if (chosen && !isCurrent(chosen)) return select(chosen.value);
  return [...shown, line([`  available: ${models.map(({ value }) => value).join(', ')}`, 'dim'])];
}

function offeredModel({ value, resolvedModel, description }: ModelInfo): OfferedModel[] {
  return typeof value === 'string' && value !== '' ? [{ value, resolved: resolvedModel, description }] : [];
}

async function resume(
  { conversations, cwd, sessionId, restart, choose }: CommandContext,
  argument: string,
): Promise<Piece[]> {
  const all = (await conversations?.list(cwd)) ?? [];
  const stored = all.filter(({ id }) => id !== sessionId);
  if (stored.length === 0) return [line('No earlier conversation in this directory.')];
  const index =
    argument === ''
      ? await choose('Conversations of this directory', resumeChoices(stored, Date.now()))
      : undefined;
  const chosen = argument === '' ? stored[index ?? -1] : findConversation(stored, argument);
  if (!chosen) {
    return argument === ''
      ? []
      : [line([`No conversation of this directory matches ${argument}. See /resume.`, 'warn'])];
  }
  await restart(chosen.id);
  return [line([`Resumed conversation ${chosen.id.slice(0, 8)}.`, 'dim'])];
}

/** `/expand [n]`: the n-th last shortened output. */
export function expand(folded: View['folded'], argument: string): Piece[] {
  if (folded.length === 0) return [line('No output was shortened.')];
  const number = argument === '' ? 1 : Number(argument);
  const found = Number.isInteger(number) && number >= 1 ? folded.at(-number) : undefined;
  if (!found && folded.length === 1)
    return [line(['Only one output was shortened: /expand shows it.', 'warn'])];
  if (!found) return [line([`/expand takes a number from 1 (the last output) to ${folded.length}.`, 'warn'])];
  return [line([found.name, 'strong']), ...found.pieces];
}

async function chooseMode({ client, view, keep }: CommandContext, mode: string): Promise<Piece[]> {
  if (mode === '') return [line(`Permission mode: ${view.init.mode ?? 'default'}`)];
  const known = PERMISSION_MODES.find((it) => it.toLowerCase() === mode.toLowerCase());
  if (!known) return [line([`Unknown mode ${mode}: choose one of ${PERMISSION_MODES.join(', ')}`, 'warn'])];
  await client.setPermissionMode(known);
  keep({ permissionMode: known });
  return [line(`Permission mode: ${known}`)];
}

/** Shift-Tab: the next permission mode. */
export async function cycleMode(
  { client, view, keep }: CommandContext,
  { allowDangerouslySkipPermissions: mayBypass, permissionMode }: Options,
): Promise<Piece[]> {
  const isBypassing = mayBypass === true || permissionMode === 'bypassPermissions';
  const modes: PermissionMode[] = ['default', 'acceptEdits', 'plan'];
  if (isBypassing) modes.push('bypassPermissions');
  const before = (view.init.mode ?? 'default') as PermissionMode;
  const mode = modes[(modes.indexOf(before) + 1) % modes.length] ?? 'default';
  // Shown at once, so that keys pressed quickly continue from the new mode.
  keep({ permissionMode: mode });
  try {
    await client.setPermissionMode(mode);
    return [];
  } catch (cause) {
    keep({ permissionMode: before });
    return [line([messageOf(cause), 'bad'])];
  }
}

/** `/explain <tool|last>`: why calls ran or were denied. A tool may be named without its server. */
export function explain({ calls }: CallLog, what: string): Piece[] {
  const found =
    what === '' || what === 'last'
      ? calls.slice(-1)
      : calls.filter(({ name }) => name === what || name.endsWith(`__${what}`)).slice(-5);
  if (found.length === 0) {
    const which =
      what === '' || what === 'last' ? 'No tool has been called yet' : `${what} has not been called yet`;
    return [line(`${which}.`)];
  }
  return found.flatMap(explainCall);
}

function explainCall(call: Call): Piece[] {
  return [
    line([call.name, 'strong'], `: ${OUTCOMES[call.outcome]}`),
    ...(call.asked
      ? [
          line(
            `  approval required: ${call.asked.reason ?? 'no rule allowed or denied the call; the agent reported no reason'}`,
          ),
        ]
      : []),
    line(`  ${formatVerdict(call)}`),
  ];
}

const OUTCOMES: Readonly<Record<Call['outcome'], string>> = {
  running: 'running',
  ok: 'succeeded',
  failed: 'failed',
  denied: 'denied',
};

function formatVerdict({ verdict, asked }: Call): string {
  if (!verdict) {
    return asked
      ? 'waiting for your answer'
      : 'allowed by a rule, the permission mode or a trusted annotation; the agent did not report which';
  }
  const { behavior, by, how, reason } = verdict;
  const did = behavior === 'allow' ? 'allowed' : 'denied';
  const who = by === 'you' ? ` by you${how ? `, ${how}` : ''}` : by === 'agent' ? ' by the agent' : '';
  return `${did}${who}${reason ? `: ${reason}` : ''}`;
}

/** `/team`: the teammates. Their names and tasks come from the model. */
function teamText(team: View['team']): Piece[] {
  if (team.length === 0) return [line('No teammates.')];
  return team.map(({ name, state, task }) => {
    const { id, subject } = isRecord(task) ? task : {};
    const work = id === undefined ? '' : sanitizeLine(`#${id} ${subject}`);
    return {
      kind: 'line',
      overflow: 'cut',
      spans: [`  ${sanitizeLine(String(name))} `, [String(state), 'strong'], ` ${work}`],
    };
  });
}

type Annotations = Readonly<Record<string, boolean>>;

/** Annotations of a tool for display; agents send the hints with or without `Hint`. */
export function annotationLabels(annotations: Annotations | undefined): string[] {
  const isTrue = (name: string) => annotations?.[name] === true || annotations?.[`${name}Hint`] === true;
  return [
    ...(isTrue('readOnly') ? ['read-only'] : []),
    ...(isTrue('destructive') ? ['destructive'] : []),
    ...(isTrue('idempotent') ? ['idempotent'] : []),
    ...(isTrue('openWorld') ? ['open world'] : []),
  ];
}

/** The annotations of the tool with this full name. */
export function labelsOfTool(servers: readonly McpServerStatus[], tool: string): string[] {
  for (const { name, tools = [] } of servers) {
    const found = tools.find((it) => mcpToolName(name, it.name) === tool);
    if (found) return annotationLabels(found.annotations);
  }
  return [];
}

/** `/tools`: the tool names by server; `offered` are the tools at the start of the last turn. */
export function toolList(servers: readonly McpServerStatus[], offered: readonly string[]): Piece[] {
  const listed = servers.flatMap(({ name, tools = [] }) =>
    tools.length === 0
      ? []
      : [line([name, 'strong']), ...tools.map((it) => row(mcpToolName(name, it.name), it))],
  );
  const own = offered.filter((name) => !isMcpToolName(name));
  const builtIn = own.length === 0 ? [] : [line(['built in', 'strong']), ...own.map((name) => row(name, {}))];
  const all = [...builtIn, ...listed];
  return all.length > 0 ? all : [line('No tools.')];
}

function row(
  name: string,
  { description, annotations }: { description?: string; annotations?: Annotations },
): Piece {
  const labels = annotationLabels(annotations);
  return {
    kind: 'line',
    overflow: 'cut',
    spans: [
      `  ${name} `,
      [labels.map((label) => `(${label})`).join(' '), 'warn'],
      [description ? ` ${description}` : '', 'dim'],
    ],
  };
}
