import { isRecord } from '../base/json-value.ts';
import {
  boolean,
  type Check,
  callback,
  either,
  isListOf,
  list,
  listOf,
  nonEmptyString,
  oneOf,
  optionFault,
  positiveNumber,
  record,
  stringList,
  stringMap,
} from '../base/option-check.ts';
import type { ConfigurationOptions } from '../config/running-configuration.ts';
import { HostError } from '../mcp/errors/host-error.ts';
import type { Ready } from '../mcp/servers/ready.ts';
import { LOG_LEVELS } from '../protocol/mcp.ts';
import type { HostCallOptions, HostOptions } from './host-options.ts';
import type { PoolOptions } from './tool-pool.ts';

/** `Infinity` is allowed. */
function atLeast(min: number): Check {
  return { what: `a number, ${min} or more`, holds: (value) => typeof value === 'number' && value >= min };
}

const FALSE: Check = { what: 'false', holds: (value) => value === false };
const SIGNAL: Check = { what: 'an AbortSignal', holds: (value) => value instanceof AbortSignal };
const NON_EMPTY_STRINGS: Check = {
  what: 'a list of non-empty strings',
  holds: (value) => isListOf(value, nonEmptyString.holds),
};
const ENTRIES: Check = { what: 'an object of server entries by name', holds: isRecord };

const HOST: Readonly<Record<keyof HostOptions, Check>> = {
  mcpServers: ENTRIES,
  configuration: {
    what: 'the result of loadConfiguration()',
    holds: (value) => isRecord(value) && isRecord(value.running),
  },
  connectTimeoutMs: positiveNumber,
  callTimeoutMs: positiveNumber,
  idleTimeoutMs: positiveNumber,
  concurrency: record,
  retry: record,
  heartbeatMs: atLeast(0),
  maxFrameBytes: positiveNumber,
  auth: record,
  handlers: record,
  logLevel: oneOf(...LOG_LEVELS),
  channels: {
    what: 'an object with servers (an object whose keys are server names) and onMessage (a function)',
    holds: (value) => isRecord(value) && isRecord(value.servers) && callback.holds(value.onMessage),
  },
  cacheDirectory: either(nonEmptyString, FALSE),
  pinsDirectory: nonEmptyString,
  changedTools: oneOf('reject', 'allow'),
  cwd: nonEmptyString,
  env: record,
  clientInfo: record,
};

const NESTED: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  concurrency: { local: positiveNumber, remote: positiveNumber, yieldAfterMs: positiveNumber },
  retry: { firstMs: positiveNumber, ceilingMs: positiveNumber, attempts: atLeast(0) },
  auth: {
    onAuthorize: callback,
    store: either(oneOf('memory'), { what: 'an object with get(), set() and delete()', holds: isStore }),
    identityProvider: {
      what: 'an object with issuer and clientId',
      holds: (value) =>
        isRecord(value) &&
        nonEmptyString.holds(value.issuer) &&
        nonEmptyString.holds(value.clientId) &&
        (value.idToken === undefined || callback.holds(value.idToken)),
    },
  },
  handlers: {
    elicitation: callback,
    sampling: callback,
    roots: either({ what: 'a list of { uri } with file: URLs', holds: isRootList }, callback),
  },
  clientInfo: {
    name: nonEmptyString,
    version: nonEmptyString,
    title: nonEmptyString,
    websiteUrl: nonEmptyString,
    icons: list,
  },
};

const CALL: Readonly<Record<keyof HostCallOptions, Check>> = {
  signal: SIGNAL,
  timeoutMs: positiveNumber,
  onProgress: callback,
  meta: record,
};

const READY: Readonly<Record<keyof Ready, Check>> = {
  servers: stringList,
  deadline: atLeast(0),
  signal: SIGNAL,
};

const POOL: Readonly<Record<keyof PoolOptions, Check>> = { maxNameLength: atLeast(16), marks: boolean };

const CONFIGURATION: Readonly<Record<keyof ConfigurationOptions, Check>> = {
  cwd: nonEmptyString,
  env: record,
  mcpConfig: either(nonEmptyString, NON_EMPTY_STRINGS),
  strictMcpConfig: boolean,
  settingSources: listOf(['user', 'project', 'local']),
  plugins: NON_EMPTY_STRINGS,
  changes: oneOf('followed', 'once'),
};

/** The parameters of requests for resources, prompts and completion. */
const PARAMETERS = {
  server: nonEmptyString,
  uri: nonEmptyString,
  listener: callback,
  name: nonEmptyString,
  args: stringMap,
  of: {
    what: '{ prompt } or { resourceTemplate }',
    holds: (value) => stringMap.holds(value) && isCompletable(value as object),
  },
  argument: { what: '{ name, value }, both strings', holds: isArgument },
  context: stringMap,
} as const satisfies Record<string, Check>;

function isRootList(value: unknown): boolean {
  return isListOf(
    value,
    (root) => isRecord(root) && typeof root.uri === 'string' && root.uri.startsWith('file:'),
  );
}

function isStore(value: unknown): boolean {
  return isRecord(value) && [value.get, value.set, value.delete].every((it) => callback.holds(it));
}

function isCompletable(value: object): boolean {
  return 'prompt' in value !== 'resourceTemplate' in value;
}

function isArgument(value: unknown): boolean {
  return isRecord(value) && typeof value.name === 'string' && typeof value.value === 'string';
}

/** Throws for invalid options. Server entries are checked one by one later, so that an invalid entry does not affect the others. */
export function checkHostOptions(options: unknown): void {
  const given = check(options, HOST, 'the options of createHost()');
  for (const [name, checks] of Object.entries(NESTED)) {
    if (isRecord(given[name])) check(given[name], checks, name, `${name}.`);
  }
}

export function checkConfigurationOptions(options: unknown): void {
  check(options, CONFIGURATION, 'the options of loadConfiguration()');
}

export function checkPoolOptions(options: unknown): void {
  check(options, POOL, 'the options of pool()');
}

export function checkCallOptions(args: unknown, options: unknown): void {
  if (!isRecord(args)) throw refusal('the arguments of a call must be an object');
  check(options, CALL, 'the options of a call');
}

/** Throws for invalid parameters or options of a request other than a call; every parameter given here is required. */
export function checkRequest(
  parameters: Partial<Record<keyof typeof PARAMETERS, unknown>>,
  options: unknown,
): void {
  for (const [name, value] of Object.entries(parameters)) {
    const { what, holds } = PARAMETERS[name as keyof typeof PARAMETERS];
    if (!holds(value)) throw refusal(`"${name}" must be ${what}`);
  }
  check(options, CALL, 'the options of a request');
}

export function checkReady(options: unknown): void {
  check(options, READY, 'the options of ready()');
}

export function checkServers(servers: unknown): void {
  if (!ENTRIES.holds(servers)) throw refusal(`the servers of setServers() must be ${ENTRIES.what}`);
}

function check(
  given: unknown,
  checks: Readonly<Record<string, Check>>,
  subject: string,
  prefix = '',
): Readonly<Record<string, unknown>> {
  if (!isRecord(given)) throw refusal(`${subject} must be an object`);
  const fault = optionFault(given, checks, (name) => `"${prefix}${name}"`);
  if (fault !== undefined) throw refusal(fault);
  return given;
}

function refusal(fault: string): HostError {
  return new HostError('bad-config', '', fault);
}
