import { entryFault } from '../../../config/sources/validate-entry.ts';
import { oneWordAdvice } from './one-word.ts';
import { looksLikeAddress, looksLikeUrl, TRANSPORTS, type Transport } from './transport.ts';
import { variableName } from './variables.ts';

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
export function givenEntry(name: string, given: Given): GivenEntry {
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
  const fault = entryFault(name, entry);
  if (fault) return { kind: 'faulty', faults: [fault.message] };
  const notes = oneWordAdvice(entry, 'words');
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
