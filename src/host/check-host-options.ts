import { isRecord } from '../base/json-value.ts';
import { nearest } from '../base/text/nearest.ts';
import type { ConfigurationOptions } from '../config/running-configuration.ts';
import { HostError } from '../mcp/errors/host-error.ts';
import type { Ready } from '../mcp/servers/ready.ts';
import type { HostCallOptions, HostOptions } from './host-options.ts';
import type { PoolOptions } from './tool-pool.ts';

/** A claim about a value, in words a person reads after "must be". */
type Check = readonly [what: string, holds: (value: unknown) => boolean];

const RECORD: Check = ['an object', isRecord];
const TEXT: Check = ['a text', (value) => typeof value === 'string' && value !== ''];
const ABOVE_0: Check = ['a number above 0', (value) => typeof value === 'number' && value > 0];
const FROM_0: Check = ['a number, 0 or more', (value) => typeof value === 'number' && value >= 0];

const TEXT_OR_FALSE: Check = [`${TEXT[0]}, or false`, (value) => value === false || TEXT[1](value)];

const CHECKS: Readonly<Record<keyof HostOptions, Check>> = {
  mcpServers: ['an object of entries by their names', isRecord],
  configuration: ['what loadConfiguration() gives', (value) => isRecord(value) && isRecord(value.running)],
  connectTimeoutMs: ABOVE_0,
  callTimeoutMs: ABOVE_0,
  idleTimeoutMs: ABOVE_0,
  concurrency: RECORD,
  retry: RECORD,
  heartbeatMs: FROM_0,
  maxFrameBytes: ABOVE_0,
  handlers: RECORD,
  cacheDirectory: TEXT_OR_FALSE,
  pinsDirectory: TEXT,
  changedTools: ['"reject" or "allow"', (value) => value === 'reject' || value === 'allow'],
  cwd: TEXT,
  env: RECORD,
  clientInfo: RECORD,
};

const FUNCTION: Check = ['a function', (value) => typeof value === 'function'];
const SIGNAL: Check = ['an AbortSignal', (value) => value instanceof AbortSignal];
const ROOTS: Check = [
  'a list of { uri } with file: URLs, or a function that gives one',
  (value) => typeof value === 'function' || (Array.isArray(value) && value.every(isRoot)),
];

function isRoot(value: unknown): boolean {
  return isRecord(value) && typeof value.uri === 'string' && value.uri.startsWith('file:');
}

const CALL: Readonly<Record<keyof HostCallOptions, Check>> = {
  signal: SIGNAL,
  timeoutMs: ABOVE_0,
  onProgress: FUNCTION,
  meta: RECORD,
};

const TEXTS: Check = [
  'an object of texts',
  (value) => isRecord(value) && Object.values(value).every((it) => typeof it === 'string'),
];

const ASKED = {
  server: TEXT,
  uri: TEXT,
  listener: FUNCTION,
  name: TEXT,
  args: TEXTS,
  of: ['{ prompt } or { resourceTemplate }', (value) => TEXTS[1](value) && isCompletable(value as object)],
  argument: ['{ name, value }, both texts', isArgument],
  context: TEXTS,
} as const satisfies Record<string, Check>;

function isCompletable(value: object): boolean {
  return 'prompt' in value !== 'resourceTemplate' in value;
}

function isArgument(value: unknown): boolean {
  return isRecord(value) && typeof value.name === 'string' && typeof value.value === 'string';
}

const READY: Readonly<Record<keyof Ready, Check>> = {
  servers: [
    'a list of names',
    (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
  ],
  deadline: FROM_0,
  signal: SIGNAL,
};

const POOL: Readonly<Record<keyof PoolOptions, Check>> = {
  maxNameLength: ['a number of at least 16', (value) => typeof value === 'number' && value >= 16],
  marks: ['true or false', (value) => typeof value === 'boolean'],
};

const LIST: Check = [
  'a list of texts',
  (value) => Array.isArray(value) && value.every((it) => typeof it === 'string' && it !== ''),
];
const SOURCES = ['user', 'project', 'local'];

const CONFIGURATION: Readonly<Record<keyof ConfigurationOptions, Check>> = {
  cwd: TEXT,
  env: RECORD,
  mcpConfig: ['a path or a text, or a list of them', (value) => TEXT[1](value) || LIST[1](value)],
  strictMcpConfig: ['true or false', (value) => typeof value === 'boolean'],
  settingSources: [
    `a list of ${SOURCES.join(', ')}`,
    (value) => Array.isArray(value) && value.every((it) => SOURCES.includes(it)),
  ],
  plugins: LIST,
  changes: ['"followed" or "once"', (value) => value === 'followed' || value === 'once'],
};

const PARTS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  concurrency: { local: ABOVE_0, remote: ABOVE_0, yieldAfterMs: ABOVE_0 },
  retry: { firstMs: ABOVE_0, ceilingMs: ABOVE_0, attempts: FROM_0 },
  handlers: { elicitation: FUNCTION, sampling: FUNCTION, roots: ROOTS },
  clientInfo: { name: TEXT, version: TEXT, title: TEXT, websiteUrl: TEXT, icons: ['a list', Array.isArray] },
};

/** Rejects invalid options. Server entries are checked one by one later, so that an invalid entry does not affect the others. */
export function checkHostOptions(options: unknown): void {
  if (!isRecord(options)) throw refusal('createHost() takes an object of options');
  check(options, CHECKS, '');
  for (const [name, checks] of Object.entries(PARTS)) {
    const part = options[name];
    if (isRecord(part)) check(part, checks, `${name}.`);
  }
}

/** As `checkHostOptions`, for what is configured. */
export function checkConfigurationOptions(options: unknown): void {
  if (!isRecord(options)) throw refusal('loadConfiguration() takes an object of options');
  check(options, CONFIGURATION, '');
}

/** As `checkHostOptions`, for a pool. */
export function checkPoolOptions(options: unknown): void {
  if (!isRecord(options)) throw refusal('The options of a pool are an object');
  check(options, POOL, '');
}

/** As `checkHostOptions`, for one call. */
export function checkCallOptions(args: unknown, options: unknown): void {
  if (!isRecord(args)) throw refusal('The arguments of a call are an object');
  if (!isRecord(options)) throw refusal('The options of a call are an object');
  check(options, CALL, '');
}

/** As `checkHostOptions`, for what is asked of a server beside calls; what is named here must be there. */
export function checkAsked(asked: Partial<Record<keyof typeof ASKED, unknown>>, options: unknown): void {
  for (const [name, value] of Object.entries(asked)) {
    const [what, holds] = ASKED[name as keyof typeof ASKED];
    if (!holds(value)) throw refusal(`"${name}" must be ${what}`);
  }
  if (!isRecord(options)) throw refusal('The options of a request are an object');
  check(options, CALL, '');
}

export function checkReady(options: unknown): void {
  if (!isRecord(options)) throw refusal('ready() takes an object of options');
  check(options, READY, '');
}

export function checkServers(servers: unknown): void {
  if (!isRecord(servers)) throw refusal('setServers() takes an object of entries by their names');
}

function check(given: object, checks: Readonly<Record<string, Check>>, prefix: string): void {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(checks, name)) {
      const similar = nearest(name, Object.keys(checks));
      throw refusal(
        `"${prefix}${name}" is no option${similar ? `; did you mean "${prefix}${similar}"?` : ''}`,
      );
    }
    const [what, holds] = checks[name] as Check;
    if (value !== undefined && !holds(value)) throw refusal(`"${prefix}${name}" must be ${what}`);
  }
}

function refusal(fault: string): HostError {
  return new HostError('bad-config', '', fault);
}
