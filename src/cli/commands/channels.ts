import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { pluralize, shellQuote, visibleJson } from '../../base/text/display-text.ts';
import { parsePushed } from '../../channels/channel-message.ts';
import { LOCAL_SOURCE } from '../../channels/channel-servers.ts';
import { Inbox } from '../../channels/inbox.ts';
import {
  MESSAGE_STATES,
  type MessageFilter,
  type MessageState,
  type StoredMessage,
} from '../../channels/stored-message.ts';
import { readConfiguration } from '../../config/configuration.ts';
import { CHANNEL_DEFAULTS } from '../../config/settings/channel-settings.ts';
import { type Actions, addJsonFlag, collect, oneOf, parseAction, usageError } from '../flags/flag-values.ts';
import { cliContext } from '../host/named-servers.ts';
import { exitWith, reportFailure, UsageError } from '../output/failure.ts';
import { joinLines, jsonDocument } from '../output/format.ts';
import { type Output, processOutput } from '../output/output.ts';
import { table } from '../terminal/table.ts';

const HELP = `
Shows and manages the messages that servers pushed into conversations of this directory. A server pushes messages if it
is a channel: it declares the capability "claude/channel", and you enabled it with --channels server:<name> or "channels"
in settings.

  toolplane channels                          the sources, and how many messages each has
  toolplane channels tail -f                  the last messages, then new ones
  toolplane channels tail --state quarantined
  toolplane channels retry <id>               deliver a quarantined or expired message after all
  toolplane channels purge --older-than 1     delete delivered and expired messages that are older than one day
  toolplane channels send "Try this"          a test message from the source "${LOCAL_SOURCE}"

A message is pending until a conversation has received it. It is quarantined if its sender is not in "senders" of the
channel, or if it is too large, and expired if no conversation received it for seven days. Refused messages were never
stored: the server exceeded a limit, or the inbox could not be written.

With --json, tail prints one object per line: {"id","source","at","state","content","meta"}.

Exit codes:
  0    success
  1    failure; the reason is on stderr
  2    usage error, or no such message`;

const ACTIONS: Actions<'list' | 'tail' | 'retry' | 'purge' | 'send'> = {
  list: [0, 0, ''],
  tail: [0, 0, ''],
  retry: [0, Number.POSITIVE_INFINITY, '<id>...'],
  purge: [0, 0, ''],
  send: [0, 1, '[text]'],
};

type Values = {
  readonly json?: true;
  readonly all?: true;
  readonly source?: string;
  readonly state?: MessageState[];
  readonly lines: number;
  readonly follow?: true;
  readonly olderThan?: number;
  readonly meta?: string[];
};

/** `toolplane channels`: the inbox of messages that servers pushed. */
export function defineChannels(command: Command): void {
  addJsonFlag(command)
    .usage('[options] [list | tail | retry <id>... | purge | send [text]]')
    .argument('[words...]', 'list, tail, retry <id>..., purge, or send [text]')
    .option('--source <name>', 'only messages of this source (send: the source of the message)')
    .option(
      '--state <state>',
      `only messages in this state: ${MESSAGE_STATES.join(', ')}; may be repeated`,
      states,
    )
    .option('--all', 'list, tail, purge: of all directories; retry: all messages that match')
    .option('-n, --lines <n>', 'tail: how many messages', count, 20)
    .option('-f, --follow', 'tail: wait for new messages, until interrupted')
    .option('--older-than <days>', 'purge: only messages that are older', count)
    .option('--meta <key=value>', 'send: an attribute of the message; may be repeated', collect)
    .addHelpText('after', HELP)
    .action(async (args: string[], values: Values, command: Command) => {
      const action = parseAction(command, args, ACTIONS);
      const ids = args.slice(1);
      if (action === 'retry' && ids.length > 0 === (values.all === true))
        usageError(command, 'name the messages to retry or use --all, but not both');
      exitWith(await start(action, ids, values, process.env));
    });
}

type Work = {
  readonly inbox: Inbox;
  readonly values: Values;
  readonly output: Output;
  /** The directory whose messages are meant. */
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
};

async function start(
  action: keyof typeof ACTIONS,
  words: readonly string[],
  values: Values,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const ended = new AbortController();
  const output = processOutput(env, () => ended.abort());
  process.once('SIGINT', () => ended.abort());
  try {
    const { home, cwd } = cliContext(env);
    const access = action === 'list' || action === 'tail' ? 'read' : 'write';
    using inbox = await Inbox.open(join(home, 'channels'), { access, lockWaitMs: LOCK_WAIT_MS });
    if (access === 'write') inbox.expire();
    const work: Work = { inbox, values, output, project: cwd, env, signal: ended.signal };
    switch (action) {
      case 'list':
        await list(work);
        return 0;
      case 'tail':
        await tail(work);
        return 0;
      case 'retry':
        await retry(words, work);
        return 0;
      case 'purge':
        await purge(work);
        return 0;
      case 'send':
        await send(words[0], work);
        return 0;
    }
  } catch (cause) {
    return reportFailure(cause, output, values.json ? 'json' : 'text');
  }
}

/** How long a command waits for another process that writes. */
const LOCK_WAIT_MS = 10_000;

async function list({ inbox, values, output, project, env }: Work): Promise<void> {
  const { settings } = await readConfiguration(cliContext(env));
  const enabled = settings.channels === false ? [] : Object.keys(settings.channels);
  const found = inbox.summaries(values.all ? undefined : project);
  const named = found.filter((it) => it.project === project).map(({ source }) => source);
  const unused = enabled.filter((name) => !named.includes(name));
  const channels = [
    ...found.map(({ counts, lastAt, ...it }) => ({
      ...it,
      enabled: it.project === project && enabled.includes(it.source),
      ...counts,
      lastAt: new Date(lastAt).toISOString() as string | null,
    })),
    ...unused.map((source) => ({ project, source, enabled: true, ...NONE, lastAt: null })),
  ].filter(({ source }) => values.source === undefined || source === values.source);
  if (values.json) {
    await output.print(jsonDocument({ channels }));
    return;
  }
  if (channels.length === 0) {
    await output.print('No channel is enabled in settings, and none has sent messages to this directory.\n');
    return;
  }
  const head = ['source', 'pending', 'delivered', 'quarantined', 'expired', 'refused', 'last message'];
  const rows = channels.map((it) => [
    values.all ? `${it.source} (${it.project})` : it.source,
    ...[it.pending, it.delivered, it.quarantined, it.expired, it.refused].map(String),
    it.lastAt?.slice(0, 19).replace('T', ' ') ?? '-',
  ]);
  await output.print(joinLines(table([head, ...rows], { columns: output.columns, right: [1, 2, 3, 4, 5] })));
}

const NONE = { pending: 0, delivered: 0, quarantined: 0, expired: 0, refused: 0 };

async function tail(work: Work): Promise<void> {
  const { inbox, values, output, signal } = work;
  let last = inbox.messages(filterOf(work), values.lines);
  let after = last.at(-1)?.seq ?? 0;
  let version = inbox.version;
  for (;;) {
    for (const message of last)
      await output.print(values.json ? messageJson(message) : messageText(message, output));
    after = last.at(-1)?.seq ?? after;
    if (!values.follow || signal.aborted) break;
    while (inbox.version === version && !signal.aborted)
      await delay(POLL_MS, undefined, { signal }).catch(() => {});
    version = inbox.version;
    last = inbox.messages(filterOf(work), Number.MAX_SAFE_INTEGER, after);
  }
}

/** Interval of the check for new messages. */
const POLL_MS = 100;

async function retry(names: readonly string[], { inbox, values, output, project }: Work): Promise<void> {
  const filter: MessageFilter = {
    project,
    ...(values.source !== undefined && { source: values.source }),
    ...(values.state && { states: values.state }),
  };
  const single = names.map((named) => {
    const found = inbox.messages({ ...filter, named }, MAX_NAMESAKES);
    return { ...filter, named, source: sourceToRetry(found, named) };
  });
  const filters = names.length > 0 ? single : [filter];
  const count = filters.reduce((sum, it) => sum + inbox.retry(it), 0);
  await output.print(
    values.json
      ? jsonDocument({ retried: count })
      : `${pluralize(count, 'message')} ${count === 1 ? 'is' : 'are'} pending now; a conversation of this directory that enables the channel receives ${count === 1 ? 'it' : 'them'}\n`,
  );
}

/** Maximum number of messages with the same id that are examined. */
const MAX_NAMESAKES = 100;

/** The source of the messages with this name. Throws if there are several, or if none of the messages can be retried. */
function sourceToRetry(found: readonly StoredMessage[], named: string): string {
  const [first] = found;
  if (!first) throw new UsageError(`there is no message ${JSON.stringify(named)} in this directory`);
  const sources = [...new Set(found.map(({ source }) => source))];
  if (sources.length > 1)
    throw new UsageError(
      `several sources have a message ${JSON.stringify(named)}; add ${sources.map((it) => `--source ${shellQuote(it)}`).join(' or ')}`,
    );
  if (!found.some(({ state }) => state === 'quarantined' || state === 'expired'))
    throw new UsageError(
      `message ${JSON.stringify(named)} is ${found.at(-1)?.state}; only quarantined and expired messages can be retried`,
    );
  return first.source;
}

async function purge(work: Work): Promise<void> {
  const { inbox, values, output } = work;
  const before = values.olderThan === undefined ? {} : { before: Date.now() - values.olderThan * DAY_MS };
  const count = inbox.purge({ states: ['delivered', 'expired'], ...filterOf(work), ...before });
  await output.print(
    values.json ? jsonDocument({ purged: count }) : `${pluralize(count, 'message')} deleted\n`,
  );
}

const DAY_MS = 24 * 60 * 60 * 1000;

async function send(given: string | undefined, { inbox, values, output, project }: Work): Promise<void> {
  const content = given === undefined || given === '-' ? readFileSync(0, 'utf8') : given;
  const meta = Object.fromEntries((values.meta ?? []).map(parseMeta));
  const pushed = parsePushed({ content, meta });
  if ('fault' in pushed) throw new UsageError(pushed.fault);
  for (const [key, value] of Object.entries(meta))
    if (pushed.meta[key] !== value) throw new UsageError(`--meta ${JSON.stringify(key)}: ${META_LIMITS}`);
  const bytes = Buffer.byteLength(content);
  if (bytes > CHANNEL_DEFAULTS.maxBytes)
    throw new UsageError(`the message has ${bytes} bytes; at most ${CHANNEL_DEFAULTS.maxBytes} are allowed`);
  const { source = LOCAL_SOURCE } = values;
  const { id, kind } = inbox.post(project, { ...pushed, source, state: 'pending' });
  if (kind === 'quota')
    throw new Error(
      `too many messages of ${source} are pending; let a conversation receive them, or delete them with: toolplane channels purge --state pending --source ${shellQuote(source)}`,
    );
  if (kind === 'conflict')
    throw new Error(`a message ${id} of ${source} with other content is already stored; use another id`);
  const state = kind === 'duplicate' ? 'duplicate' : 'pending';
  await output.print(
    values.json
      ? jsonDocument({ id, source, state })
      : kind === 'duplicate'
        ? `message ${id} of ${source} is already stored; it is not delivered again\n`
        : `message ${id} of ${source} is pending; a conversation of this directory that enables channels receives it\n`,
  );
}

const META_LIMITS =
  'a key consists of at most 64 letters, digits and _, does not start with a digit and is not "source" (set the source with --source); a value has at most 1024 characters, and a message at most 32 attributes';

function filterOf({ values, project }: Work): MessageFilter {
  return {
    ...(!values.all && { project }),
    ...(values.source !== undefined && { source: values.source }),
    ...(values.state && { states: values.state }),
  };
}

function messageJson({ id, source, at, state, reason, content, meta, project }: StoredMessage): string {
  const line = {
    id,
    source,
    at: new Date(at).toISOString(),
    state,
    ...(reason !== undefined && { reason }),
    content,
    meta,
    project,
  };
  return `${visibleJson(JSON.stringify(line))}\n`;
}

function messageText({ id, source, at, state, reason, content }: StoredMessage, { columns }: Output): string {
  const time = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  const why = reason === undefined ? '' : ` (${reason})`;
  return joinLines(table([[time, source, `${state}${why}`, id, content]], { columns }));
}

function states(value: string, before: unknown): MessageState[] {
  return [...((before as MessageState[] | undefined) ?? []), oneOf(MESSAGE_STATES)(value)];
}

function count(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('Expected an integer, 1 or more.');
  return Number(value);
}

function parseMeta(given: string): [string, string] {
  const at = given.indexOf('=');
  if (at < 1) throw new UsageError(`--meta ${JSON.stringify(given)}: expected key=value`);
  return [given.slice(0, at), given.slice(at + 1)];
}
