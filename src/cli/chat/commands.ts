import { nearest } from '../../base/text/nearest.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import { isMcpToolName } from '../../protocol/tool-name.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import { line, type Piece } from '../terminal/render.ts';
import { MCP_USAGE, mcpCommand } from './mcp-command.ts';
import { toolList } from './tool-list.ts';
import type { Call, CallLog, Totals, View } from './view.ts';

/** What commands work with. */
export type CommandContext = {
  readonly client: AgentClient;
  readonly view: View;
  /** Begins anew: nothing of what was said is remembered. */
  restart(): Promise<void>;
  /** Keeps a choice for conversations begun anew. */
  keep(choice: { model?: string; permissionMode?: PermissionMode }): void;
};

type Command = {
  readonly takes: string;
  readonly description: string;
  run(
    world: CommandContext,
    argument: string,
  ): Promise<readonly Piece[] | 'leave'> | readonly Piece[] | 'leave';
};

/** The chat's own commands, by name; one row each. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  help: { takes: '', description: 'list commands', run: ({ view }) => helpText(view.commands) },
  mcp: {
    takes: MCP_USAGE,
    description: 'server status; reconnect, enable or disable one',
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
      // Not every agent gives an account of its window.
      usageText(view.totals, await client.getContextUsage({ detail: 'summary' }).catch(() => undefined)),
  },
  explain: {
    takes: '[tool|last]',
    description: 'why a call was allowed, asked about or denied',
    run: ({ view }, argument) => explain(view.calls, argument),
  },
  model: { takes: '[name]', description: 'show or change the model', run: chooseModel },
  mode: {
    takes: '[mode]',
    description: `the permission mode: ${PERMISSION_MODES.join(', ')}`,
    run: chooseMode,
  },
  clear: {
    takes: '',
    description: 'start a new conversation',
    async run({ restart }) {
      await restart();
      return [line(['A new conversation.', 'dim'])];
    },
  },
  quit: { takes: '', description: 'exit (also Ctrl-D)', run: () => 'leave' },
};

/** What a line begins with a slash for: a command of the chat, one of the agent (sent as it is), or neither. */
export function parseCommand(
  text: string,
  agentCommands: readonly string[],
):
  | { readonly kind: 'own'; readonly command: Command; readonly argument: string }
  | { readonly kind: 'prompt' }
  | { readonly kind: 'unknown'; readonly pieces: readonly Piece[] } {
  const [, name, argument = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  // A name with another slash is a path, which may begin a prompt.
  if (name === undefined || name.includes('/')) return { kind: 'prompt' };
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command) return { kind: 'own', command, argument: argument.trim() };
  // MCP prompts may have come after the agent last told its commands.
  if (agentCommands.includes(name) || isMcpToolName(name)) return { kind: 'prompt' };
  const guess = closestCommand(name, [...Object.keys(COMMANDS), ...agentCommands]);
  const hint = guess === undefined ? '' : ` Did you mean /${guess}?`;
  return {
    kind: 'unknown',
    pieces: [line([`Unknown command /${name}.${hint} /help lists commands.`, 'warn'])],
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

/** The command that was most likely meant: by another name, by its beginning, or by a slip of the keys. */
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
  // Of two with one name the chat's own is what runs.
  const others = agentCommands.filter((name) => !Object.hasOwn(COMMANDS, name));
  return [
    ...rows.map(([usage, does]) => line('  ', [usage.padEnd(widest), 'strong'], `  ${does}`)),
    ...(others.length > 0
      ? [line(['  from the agent: ', 'dim'], others.map((name) => `/${name}`).join(' '))]
      : []),
    line(['  A backslash at the end of a line continues it. Ctrl-C interrupts, Ctrl-D leaves.', 'dim']),
  ];
}

async function chooseModel({ client, view, keep }: CommandContext, name: string): Promise<Piece[]> {
  if (name !== '') {
    await client.setModel(name);
    keep({ model: name });
    return [line(`The next answer is by ${name}.`)];
  }
  const known = (await client.supportedModels()) ?? [];
  const names = known.flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return [
    line(`Model: ${view.init.model ?? 'the first turn will tell'}`),
    ...(names.length > 0 ? [line([`  there are ${names.join(', ')}`, 'dim'])] : []),
  ];
}

async function chooseMode({ client, view, keep }: CommandContext, mode: string): Promise<Piece[]> {
  if (mode === '') return [line(`Permission mode: ${view.init.mode ?? 'default'}`)];
  const known = PERMISSION_MODES.find((it) => it.toLowerCase() === mode.toLowerCase());
  if (!known)
    return [line([`There is no mode ${mode}: choose one of ${PERMISSION_MODES.join(', ')}`, 'warn'])];
  await client.setPermissionMode(known);
  keep({ permissionMode: known });
  return [line(`Permission mode: ${known}`)];
}

/** `/explain <tool|last>`: why calls ran or did not, as far as anybody said. A tool may be named by its last part. */
export function explain({ calls }: CallLog, what: string): Piece[] {
  const found =
    what === '' || what === 'last'
      ? calls.slice(-1)
      : calls.filter(({ name }) => name === what || name.endsWith(`__${what}`)).slice(-5);
  if (found.length === 0) {
    const which = what === '' || what === 'last' ? 'No tool was called yet' : `${what} was not called yet`;
    return [line(`${which}.`)];
  }
  return found.flatMap(explainCall);
}

function explainCall(call: Call): Piece[] {
  return [
    line([call.name, 'strong'], `: ${OUTCOMES[call.outcome]}`),
    ...(call.asked
      ? [line(`  asked: ${call.asked.reason ?? 'the agent gave no reason; no rule allowed or denied it'}`)]
      : []),
    line(`  ${formatVerdict(call)}`),
  ];
}

const OUTCOMES: Readonly<Record<Call['outcome'], string>> = {
  running: 'it is running',
  ok: 'it ran',
  failed: 'it failed',
  denied: 'it was denied',
};

function formatVerdict({ verdict, asked }: Call): string {
  if (!verdict) {
    return asked
      ? 'the question is open'
      : 'nobody was asked: a rule, the permission mode or a trusted claim allowed it, the agent did not say which';
  }
  const { behavior, by, how, reason } = verdict;
  const did = behavior === 'allow' ? 'allowed' : 'denied';
  const who = by === 'you' ? ` by you${how ? `, ${how}` : ''}` : by === 'agent' ? ' by the agent' : '';
  return `${did}${who}${reason ? `: ${reason}` : ''}`;
}

/** `/cost`: what was used; `context` is the agent's own account of its window, if it gives one. */
export function usageText(totals: Totals, context: Frame | undefined): Piece[] {
  const { prompts, turns, inputTokens, cachedTokens, outputTokens, usd } = totals;
  const money = usd > 0 ? `$${usd.toFixed(usd < 1 ? 4 : 2)}` : 'not known for this model';
  const cached = cachedTokens > 0 ? ` (${number(cachedTokens)} from the cache)` : '';
  return [
    line(`  tokens   ${number(inputTokens)} in${cached}, ${number(outputTokens)} out`),
    line(`  turns    ${number(turns)} for ${number(prompts)} ${prompts === 1 ? 'prompt' : 'prompts'}`),
    line(`  money    ${money}`),
    ...contextText(context),
  ];
}

function contextText(context: Frame | undefined): Piece[] {
  const { totalTokens: used, maxTokens: most } = context ?? {};
  if (typeof used !== 'number' || typeof most !== 'number' || most <= 0) return [];
  return [
    line(`  context  ${number(used)} of ${number(most)} tokens (${Math.round((100 * used) / most)} %)`),
  ];
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
