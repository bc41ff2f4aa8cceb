import { nearest } from '../../base/text/nearest.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import { isMcpToolName } from '../../protocol/tool-name.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import { line, type Piece } from '../terminal/render.ts';
import { MCP_USAGE, mcpCommand } from './mcp-command.ts';
import { toolList } from './tool-list.ts';
import type { Call, CallLog, Totals, View } from './view.ts';

/** The context of a slash command. */
export type CommandContext = {
  readonly client: AgentClient;
  readonly view: View;
  /** Starts a new conversation. */
  restart(): Promise<void>;
  /** Keeps a setting for new conversations. */
  keep(choice: { model?: string; permissionMode?: PermissionMode }): void;
};

type Command = {
  readonly takes: string;
  readonly description: string;
  run(
    context: CommandContext,
    argument: string,
  ): Promise<readonly Piece[] | 'leave'> | readonly Piece[] | 'leave';
};

/** The commands of the chat, by name. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  help: { takes: '', description: 'list the commands', run: ({ view }) => helpText(view.commands) },
  mcp: {
    takes: MCP_USAGE,
    description: 'server status; reconnect, enable or disable a server',
    run: ({ client }, argument) => mcpCommand(client, argument),
  },
  tools: {
    takes: '',
    description: 'tools by server, with their annotations',
    run: async ({ client, view }) => toolList(await client.mcpServerStatus(), view.init.tools),
  },
  cost: {
    takes: '',
    description: 'tokens, turns and cost so far',
    run: async ({ client, view }) =>
      // Not every agent reports its context usage.
      usageText(view.totals, await client.getContextUsage({ detail: 'summary' }).catch(() => undefined)),
  },
  explain: {
    takes: '[tool|last]',
    description: 'why a call was allowed, required approval or was denied',
    run: ({ view }, argument) => explain(view.calls, argument),
  },
  model: { takes: '[name]', description: 'show or change the model', run: chooseModel },
  mode: {
    takes: '[mode]',
    description: `show or change the permission mode: ${PERMISSION_MODES.join(', ')}`,
    run: chooseMode,
  },
  clear: {
    takes: '',
    description: 'start a new conversation',
    async run({ restart }) {
      await restart();
      return [line(['New conversation.', 'dim'])];
    },
  },
  quit: { takes: '', description: 'leave, like Ctrl-D', run: () => 'leave' },
};

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
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
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
  const rows = Object.entries(COMMANDS).map(
    ([name, { takes, description: does }]) => [`/${name} ${takes}`, does] as const,
  );
  const widest = Math.max(...rows.map(([usage]) => usage.length));
  // Commands of the chat take precedence.
  const others = agentCommands.filter((name) => !Object.hasOwn(COMMANDS, name));
  return [
    ...rows.map(([usage, does]) => line('  ', [usage.padEnd(widest), 'strong'], `  ${does}`)),
    ...(others.length > 0
      ? [line(['  from the agent: ', 'dim'], others.map((name) => `/${name}`).join(' '))]
      : []),
    line([
      '  End a line with a backslash to continue on the next line. Ctrl-C interrupts the turn, Ctrl-D leaves.',
      'dim',
    ]),
  ];
}

async function chooseModel({ client, view, keep }: CommandContext, name: string): Promise<Piece[]> {
  if (name !== '') {
    await client.setModel(name);
    keep({ model: name });
    return [line(`The next turn uses ${name}.`)];
  }
  const known = (await client.supportedModels()) ?? [];
  const names = known.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return [
    line(`Model: ${view.init.model ?? 'known after the first turn'}`),
    ...(names.length > 0 ? [line([`  available: ${names.join(', ')}`, 'dim'])] : []),
  ];
}

async function chooseMode({ client, view, keep }: CommandContext, mode: string): Promise<Piece[]> {
  if (mode === '') return [line(`Permission mode: ${view.init.mode ?? 'default'}`)];
  const known = PERMISSION_MODES.find((it) => it.toLowerCase() === mode.toLowerCase());
  if (!known) return [line([`Unknown mode ${mode}: choose one of ${PERMISSION_MODES.join(', ')}`, 'warn'])];
  await client.setPermissionMode(known);
  keep({ permissionMode: known });
  return [line(`Permission mode: ${known}`)];
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

/** `/cost`: usage so far; `context` is the agent's own report of its context window. */
export function usageText(totals: Totals, context: Frame | undefined): Piece[] {
  const { prompts, turns, inputTokens, cachedTokens, outputTokens, usd } = totals;
  const money = usd > 0 ? `$${usd.toFixed(usd < 1 ? 4 : 2)}` : 'unknown for this model';
  const cached = cachedTokens > 0 ? ` (${number(cachedTokens)} from the cache)` : '';
  return [
    line(`  tokens   ${number(inputTokens)} in${cached}, ${number(outputTokens)} out`),
    line(`  turns    ${number(turns)} for ${number(prompts)} ${prompts === 1 ? 'prompt' : 'prompts'}`),
    line(`  cost     ${money}`),
    ...contextText(context),
  ];
}

function contextText(context: Frame | undefined): Piece[] {
  const { totalTokens: used, maxTokens: max } = context ?? {};
  if (typeof used !== 'number' || typeof max !== 'number' || max <= 0) return [];
  return [line(`  context  ${number(used)} of ${number(max)} tokens (${Math.round((100 * used) / max)} %)`)];
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
