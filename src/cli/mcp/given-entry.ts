import { isRecord } from '../../base/json-value.ts';
import { parseJsonc } from '../../config/files/parse-jsonc.ts';
import { normalizeEntry, validateEntry } from '../../config/sources/validate-entry.ts';
import { foreignMember, foreignMembers, unknownMembers } from '../../protocol/server-entry.ts';
import { oneOf } from '../flags/flag-values.ts';

/** What `mcp add` was told, as it was typed. */
export type Given = {
  readonly target: string;
  readonly args: readonly string[];
  readonly transport?: Transport;
  readonly env: readonly string[];
  readonly headers: readonly string[];
  readonly cwd?: string;
  readonly timeout?: number;
  readonly trust?: true;
  readonly onDemand?: true;
};

export type GivenEntry =
  | {
      readonly kind: 'entry';
      readonly entry: Readonly<Record<string, unknown>>;
      /** What may not be meant so, a line each. */
      readonly notes?: readonly string[];
    }
  /** What cannot be, a line each. */
  | { readonly kind: 'faulty'; readonly faults: readonly string[] };

/** The entry that is meant. */
export function givenEntry(given: Given): GivenEntry {
  const transport = given.transport ?? transportOf(given.target);
  const env = pairs(given.env, /^([^=]+)=([\s\S]*)$/, '-e', 'KEY=value');
  const headers = pairs(given.headers, HEADER, '-H', '"Name: value"');
  const faults = [
    ...(transport === 'stdio' ? faultsOfCommand(given) : faultsOfRemote(given, transport)),
    ...env.faults,
    ...headers.faults,
  ];
  if (faults.length > 0) return { kind: 'faulty', faults };
  const entry = {
    // An address without a type is asked which transport it speaks.
    ...((given.transport !== undefined || transport !== 'http') && { type: transport }),
    ...(transport === 'stdio' ? { command: given.target, ...listed(given.args) } : { url: given.target }),
    ...(env.map && { env: env.map }),
    ...(headers.map && { headers: headers.map }),
    ...(given.cwd !== undefined && { cwd: given.cwd }),
    ...(given.timeout !== undefined && { timeout: given.timeout }),
    ...(given.trust && { trust: true }),
    ...(given.onDemand && { start: 'on-demand' }),
  };
  const fault = validateEntry(entry);
  if (fault) return { kind: 'faulty', faults: [fault.message] };
  const notes = splitCommandAdvice(entry, 'words');
  return { kind: 'entry', entry, ...(notes.length > 0 && { notes }) };
}

/** A header's name as HTTP takes it (RFC 9110, 5.6.2). */
const HEADER = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n]*)$/;

function transportOf(target: string): Transport {
  if (!looksLikeUrl(target)) return 'stdio';
  return /^wss?:/i.test(target) ? 'ws' : 'http';
}

function listed(args: readonly string[]): { args?: readonly string[] } {
  return args.length > 0 ? { args } : {};
}

function faultsOfCommand({ target, transport, headers }: Given): string[] {
  const faults: string[] = [];
  if (target.trim() === '') faults.push('there is no command');
  const variable = variableName(target);
  if (variable !== undefined) {
    faults.push(`"${variable}=…" looks like a variable: give it with -e, and repeat -e for each`);
  }
  if (looksLikeUrl(target)) faults.push('-t stdio takes a command, and an address was given');
  else if (transport === undefined && looksLikeAddress(target)) {
    faults.push(`"${target}" looks like an address: write http://${target}, or -t stdio if it is a command`);
  }
  if (headers.length > 0) faults.push('-H is for servers on the network; a command takes -e KEY=value');
  return faults;
}

function faultsOfRemote({ target, args, env, cwd }: Given, transport: Transport): string[] {
  const faults: string[] = [];
  const isCommand = !looksLikeUrl(target) && !target.includes('${');
  if (isCommand) {
    faults.push(`-t ${transport} takes an address such as ${TRANSPORTS[transport]}, and a command was given`);
  }
  if (args.length > 0 && !isCommand) faults.push('an address takes no arguments after it');
  if (env.length > 0) faults.push('-e is for commands; an address takes -H "Name: value"');
  if (cwd !== undefined) faults.push('--cwd is for commands; nothing is run for an address');
  return faults;
}

/** Of two with one name the later counts. A value that is not understood is not shown: it may be secret. */
function pairs(
  texts: readonly string[],
  form: RegExp,
  flag: string,
  takes: string,
): { readonly map?: Readonly<Record<string, string>>; readonly faults: readonly string[] } {
  const read = texts.map((text) => form.exec(text));
  const faults = texts.flatMap((text, at) => {
    if (read[at]) return [];
    const name = nameOf(text);
    return [name === undefined ? `${flag} takes ${takes}` : `${flag} "${name}…" is no ${takes}`];
  });
  const found = read.flatMap((it) => (it ? [[(it[1] as string).trim(), it[2] as string] as const] : []));
  return { ...(found.length > 0 && { map: Object.fromEntries(found) }), faults };
}

/** As much of a text as is no value. */
function nameOf(text: string): string | undefined {
  const name = /^[^\s:=]*/.exec(text)?.[0] ?? '';
  return name.length > 0 && name.length < text.length ? name : undefined;
}

/** The entry a JSON text holds; a whole `{ "mcpServers": … }` of one server is understood too. */
export function parseJsonEntry(name: string, text: string): GivenEntry {
  const { value, faults } = parseJsonc(text.replace(/^\ufeff/, ''));
  const [first] = faults;
  if (first) {
    const { line, column } = first.position;
    return faulty(`it is no JSON: line ${line}, column ${column}: ${first.message}`);
  }
  const whole = isRecord(value) && isRecord(value.mcpServers) ? value.mcpServers : undefined;
  return whole ? ofWhole(name, whole) : ofEntry(name, value);
}

function ofWhole(name: string, servers: Readonly<Record<string, unknown>>): GivenEntry {
  const [one, ...more] = Object.keys(servers);
  if (one === undefined) return faulty('its "mcpServers" is empty');
  if (more.length > 0) {
    return faulty(
      `it holds ${more.length + 1} servers; give one at a time, what stands behind its name: {"command": …} or {"type": "http", "url": …}`,
    );
  }
  const read = ofEntry(name, servers[one]);
  const note = one === name ? [] : [`it is called "${one}" there, and "${name}" from now on`];
  return read.kind === 'faulty' ? read : { ...read, notes: [...note, ...(read.notes ?? [])] };
}

function ofEntry(name: string, value: unknown): GivenEntry {
  if (!isRecord(value) || Array.isArray(value)) {
    return faulty('it must be an object, such as {"command": "npx"} or {"url": "https://…"}');
  }
  const fault = validateEntry(value);
  if (fault) {
    const hints = isMap(value) ? ['give only what stands behind the name'] : foreignMembers(name, value);
    return faulty([fault.message, ...hints].join('; '));
  }
  const notes = unknownMembers(normalizeEntry(value).entry).map(({ name: member, meant }) => {
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return `"${member}" ${foreignMember(name, member) ?? `means nothing here${hint}`}`;
  });
  return { kind: 'entry', entry: value, notes: [...notes, ...splitCommandAdvice(value, 'json')] };
}

/** Somebody gave the name and its entry. */
function isMap(value: Readonly<Record<string, unknown>>): boolean {
  const all = Object.values(value);
  return all.length > 0 && all.every((it) => isRecord(it) && ('command' in it || 'url' in it));
}

function faulty(fault: string): GivenEntry {
  return { kind: 'faulty', faults: [fault] };
}

/** What is said of a command with blanks in it, which no shell takes apart; of its words only the first, since others may be secret. */
function splitCommandAdvice(
  { command }: Readonly<Record<string, unknown>>,
  given: 'words' | 'json',
): string[] {
  if (typeof command !== 'string' || !/\S\s+\S/.test(command)) return [];
  const [first = ''] = command.trim().split(/\s/);
  const variable = variableName(first);
  if (variable !== undefined) return [`the command begins with the variable ${variable}, which "env" takes`];
  const cure =
    given === 'json'
      ? `"command": ${JSON.stringify(first)}, "args": ["…"]`
      : `add it again with --force, without the quotes: -- ${first} …`;
  return [
    `the command is one word with blanks in it; if what follows ${first} are its arguments, write each as its own: ${cure}`,
  ];
}

export type Transport = 'stdio' | 'http' | 'sse' | 'ws';

/** Each way to reach a server, with an example of what it takes. */
export const TRANSPORTS: Readonly<Record<Transport, string>> = {
  stdio: 'npx -y some-server',
  http: 'https://example.com/mcp',
  sse: 'https://example.com/sse',
  ws: 'wss://example.com/mcp',
};

/** Reads `--transport`; what others call them is understood as a hint. */
export const transportName = oneOf(Object.keys(TRANSPORTS) as Transport[], {
  'streamable-http': 'http',
  streamablehttp: 'http',
  streamable: 'http',
  https: 'http',
  remote: 'http',
  url: 'http',
  websocket: 'ws',
  wss: 'ws',
  command: 'stdio',
  local: 'stdio',
});

export function looksLikeUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** A host with a port or a path, such as `localhost:3000/mcp`, is no command. */
function looksLikeAddress(text: string): boolean {
  return /^(localhost|\d{1,3}(\.\d{1,3}){3}|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d{1,5})(\/\S*)?$/i.test(text);
}
/** The name of the variable that a word such as `KEY=value` sets; undefined if it sets none. */
function variableName(word: string): string | undefined {
  return /^([A-Za-z_]\w*)=/.exec(word)?.[1];
}

/**
 * The words of a command line with an `-e` before each variable: others take several after one, as `-e A=1 B=2`. Only
 * words that directly follow one are taken for such, and none after `--`, where the command has its own.
 */
export function repeatVariables(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const expanded: string[] = [];
  // What the next word may be: the value of the flag, or one more variable.
  let next: 'value' | 'more' | 'other' = 'other';
  for (const word of own) {
    if (next === 'value') next = 'more';
    else if (word === '-e' || word === '--env') next = 'value';
    else if (/^(-e|--env=)./.test(word)) next = 'more';
    else if (next === 'more' && variableName(word) !== undefined) expanded.push('-e');
    else next = 'other';
    expanded.push(word);
  }
  return [...expanded, ...args.slice(own.length)];
}
