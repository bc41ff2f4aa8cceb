import { isRecord } from '../../base/json-value.ts';
import { parseJsonc } from '../../config/files/parse-jsonc.ts';
import { normalizeEntry, validateEntry } from '../../config/sources/validate-entry.ts';
import { foreignMember, foreignMembers, unknownMembers } from '../../protocol/server-entry.ts';
import { oneOf } from '../flags/flag-values.ts';

/** The arguments of `mcp add`. */
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
  readonly oauth?: GivenOAuth;
};

/** The client that is registered for this server. */
export type GivenOAuth = {
  readonly clientId?: string;
  readonly issuer?: string;
  readonly callbackPort?: number;
  readonly xaa?: true;
  /** Whether the client has a secret, which is stored and not written to the entry. */
  readonly hasSecret?: true;
};

export type GivenEntry =
  | {
      readonly kind: 'entry';
      readonly entry: Readonly<Record<string, unknown>>;
      /** Notes, one line each. */
      readonly notes?: readonly string[];
    }
  /** Problems, one line each. */
  | { readonly kind: 'faulty'; readonly faults: readonly string[] };

/** Builds the entry from the arguments; `secret` is the name of the stored client secret. */
export function givenEntry(given: Given, secret = ''): GivenEntry {
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
    // Without a type, the transport of a URL is detected when connecting.
    ...((given.transport !== undefined || transport !== 'http') && { type: transport }),
    ...(transport === 'stdio' ? { command: given.target, ...listed(given.args) } : { url: given.target }),
    ...(env.map && { env: env.map }),
    ...(headers.map && { headers: headers.map }),
    ...(given.oauth && { oauth: oauthMember(given.oauth, secret) }),
    ...(given.cwd !== undefined && { cwd: given.cwd }),
    ...(given.timeout !== undefined && { timeout: given.timeout }),
    ...(given.trust && { trust: true }),
    ...(given.onDemand && { start: 'on-demand' }),
  };
  const fault = validateEntry(entry);
  if (fault) return { kind: 'faulty', faults: [fault.message] };
  const notes = [...splitCommandAdvice(entry, 'words'), ...issuerAdvice(given.oauth)];
  return { kind: 'entry', entry, ...(notes.length > 0 && { notes }) };
}

function oauthMember({ clientId, issuer, callbackPort, hasSecret, xaa }: GivenOAuth, secret: string): object {
  return {
    ...(clientId !== undefined && { clientId }),
    ...(hasSecret && { clientSecret: `\${secret:${secret}}` }),
    ...(issuer !== undefined && { issuer }),
    ...(callbackPort !== undefined && { callbackPort }),
    ...(xaa && { xaa }),
  };
}

function issuerAdvice({ hasSecret, issuer }: GivenOAuth = {}): string[] {
  if (!hasSecret || issuer !== undefined) return [];
  return [
    'set "oauth.issuer" in the entry, or use --issuer: the client secret is sent only to an authorization server that you name',
  ];
}

/** A header with a valid field name (RFC 9110, 5.6.2). */
const HEADER = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n]*)$/;

function transportOf(target: string): Transport {
  if (!looksLikeUrl(target)) return 'stdio';
  return /^wss?:/i.test(target) ? 'ws' : 'http';
}

function listed(args: readonly string[]): { args?: readonly string[] } {
  return args.length > 0 ? { args } : {};
}

function faultsOfCommand({ target, transport, headers, oauth }: Given): string[] {
  const faults: string[] = [];
  if (target.trim() === '') faults.push('the command is empty');
  const variable = variableName(target);
  if (variable !== undefined) {
    faults.push(`"${variable}=…" looks like an environment variable; set it with -e KEY=value`);
  }
  if (looksLikeUrl(target)) faults.push('-t stdio needs a command, not a URL');
  else if (transport === undefined && looksLikeAddress(target)) {
    faults.push(`"${target}" looks like a URL: write http://${target}, or -t stdio if it is a command`);
  }
  if (oauth)
    faults.push(
      '--client-id, --client-secret, --issuer, --callback-port and --xaa apply only to URLs; remove them',
    );
  if (headers.length > 0)
    faults.push('-H sets headers of a URL; set environment variables of a command with -e KEY=value');
  return faults;
}

function faultsOfRemote({ target, args, env, cwd, oauth }: Given, transport: Transport): string[] {
  const faults: string[] = [];
  if (oauth?.hasSecret && oauth.clientId === undefined) faults.push('--client-secret needs --client-id <id>');
  if (oauth?.xaa && (oauth.clientId === undefined || oauth.issuer === undefined))
    faults.push('--xaa needs --client-id <id> and --issuer <url>, the authorization server of the URL');
  const isCommand = !looksLikeUrl(target) && !target.includes('${');
  if (isCommand) {
    faults.push(`-t ${transport} needs a URL such as ${TRANSPORTS[transport]}, not a command`);
  }
  if (args.length > 0 && !isCommand) faults.push('a URL cannot have arguments; remove them');
  if (env.length > 0)
    faults.push('-e sets environment variables of a command; set headers of a URL with -H "Name: value"');
  if (cwd !== undefined) faults.push('--cwd applies only to commands, not to URLs; remove it');
  return faults;
}

/** Parses pairs; the later of two with one name wins. A value may be a secret, so it is never quoted. */
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
    return [name === undefined ? `${flag} needs ${takes}` : `${flag} "${name}…" is not ${takes}`];
  });
  const found = read.flatMap((it) => (it ? [[(it[1] as string).trim(), it[2] as string] as const] : []));
  return { ...(found.length > 0 && { map: Object.fromEntries(found) }), faults };
}

/** The name in a malformed pair. */
function nameOf(text: string): string | undefined {
  const name = /^[^\s:=]*/.exec(text)?.[0] ?? '';
  return name.length > 0 && name.length < text.length ? name : undefined;
}

/** Parses an entry, or a complete `{ "mcpServers": … }` with one server. */
export function parseJsonEntry(name: string, text: string): GivenEntry {
  const { value, faults } = parseJsonc(text.replace(/^\ufeff/, ''));
  const [first] = faults;
  if (first) {
    const { line, column } = first.position;
    return faulty(`the entry is not valid JSON: line ${line}, column ${column}: ${first.message}`);
  }
  const whole = isRecord(value) && isRecord(value.mcpServers) ? value.mcpServers : undefined;
  return whole ? ofWhole(name, whole) : ofEntry(name, value);
}

function ofWhole(name: string, servers: Readonly<Record<string, unknown>>): GivenEntry {
  const [one, ...more] = Object.keys(servers);
  if (one === undefined) return faulty('"mcpServers" is empty; pass the entry of a server');
  if (more.length > 0) {
    return faulty(
      `"mcpServers" has ${more.length + 1} servers; pass the entry of one server: {"command": …} or {"type": "http", "url": …}`,
    );
  }
  const read = ofEntry(name, servers[one]);
  const note = one === name ? [] : [`the entry named "${one}" is added as "${name}"`];
  return read.kind === 'faulty' ? read : { ...read, notes: [...note, ...(read.notes ?? [])] };
}

function ofEntry(name: string, value: unknown): GivenEntry {
  if (!isRecord(value) || Array.isArray(value)) {
    return faulty('the entry must be an object, such as {"command": "npx"} or {"url": "https://…"}');
  }
  const fault = validateEntry(value);
  if (fault) {
    const hints = isMap(value)
      ? ['pass only the entry, without the name of the server']
      : foreignMembers(name, value);
    return faulty([fault.message, ...hints].join('; '));
  }
  const notes = unknownMembers(normalizeEntry(value).entry).map(({ name: member, suggestion }) => {
    const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`;
    return `"${member}" ${foreignMember(name, member) ?? `is not a known key${hint}`}`;
  });
  return { kind: 'entry', entry: value, notes: [...notes, ...splitCommandAdvice(value, 'json')] };
}

/** Whether the value is a map from names to entries. */
function isMap(value: Readonly<Record<string, unknown>>): boolean {
  const all = Object.values(value);
  return all.length > 0 && all.every((it) => isRecord(it) && ('command' in it || 'url' in it));
}

function faulty(fault: string): GivenEntry {
  return { kind: 'faulty', faults: [fault] };
}

/** Advice about a command with spaces, which is not split by a shell. Only its first word is quoted: the others may be secrets. */
function splitCommandAdvice(
  { command }: Readonly<Record<string, unknown>>,
  given: 'words' | 'json',
): string[] {
  if (typeof command !== 'string' || !/\S\s+\S/.test(command)) return [];
  const [first = ''] = command.trim().split(/\s/);
  const variable = variableName(first);
  if (variable !== undefined)
    return [`the command starts with the environment variable ${variable}; set it in "env"`];
  const cure =
    given === 'json'
      ? `write "command": ${JSON.stringify(first)}, "args": ["…"]`
      : `add the server again with --force and without the quotes: -- ${first} …`;
  return [
    `the command contains spaces and is not split into arguments; if the words after ${first} are arguments, ${cure}`,
  ];
}

export type Transport = 'stdio' | 'http' | 'sse' | 'ws';

/** The transports, each with an example. */
export const TRANSPORTS: Readonly<Record<Transport, string>> = {
  stdio: 'npx -y some-server',
  http: 'https://example.com/mcp',
  sse: 'https://example.com/sse',
  ws: 'wss://example.com/mcp',
};

/** Parses `--transport`; other common names are suggested corrections. */
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

/** A host with a port, such as `localhost:3000/mcp`, is not a command. */
function looksLikeAddress(text: string): boolean {
  return /^(localhost|\d{1,3}(\.\d{1,3}){3}|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d{1,5})(\/\S*)?$/i.test(text);
}
/** The variable's name in `KEY=value`; undefined if there is none. */
function variableName(word: string): string | undefined {
  return /^([A-Za-z_]\w*)=/.exec(word)?.[1];
}

/**
 * Inserts `-e` before each further variable of `-e A=1 B=2`, as other programs accept it. Only
 * arguments that directly follow one are variables, and none after `--`.
 */
export function repeatVariables(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const expanded: string[] = [];
  // What the next argument may be: the value of the flag, or another variable.
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
