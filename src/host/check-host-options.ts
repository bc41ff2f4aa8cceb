import { isRecord } from '../base/is-record.ts';
import { nearest } from '../base/nearest.ts';
import { HostError } from './connect/host-error.ts';
import type { HostOptions } from './host-options.ts';

/** A claim about a value, in words a person reads after "must be". */
type Check = readonly [what: string, holds: (value: unknown) => boolean];

const RECORD: Check = ['an object', isRecord];
const TEXT: Check = ['a text', (value) => typeof value === 'string' && value !== ''];
const ABOVE_0: Check = ['a number above 0', (value) => typeof value === 'number' && value > 0];
const FROM_0: Check = ['a number, 0 or more', (value) => typeof value === 'number' && value >= 0];

const CHECKS: Readonly<Record<keyof HostOptions, Check>> = {
  mcpServers: ['an object of entries by their names', isRecord],
  connectTimeoutMs: ABOVE_0,
  callTimeoutMs: ABOVE_0,
  idleTimeoutMs: ABOVE_0,
  dialling: RECORD,
  retry: RECORD,
  heartbeatMs: FROM_0,
  maxFrameBytes: ABOVE_0,
  handlers: RECORD,
  cacheDirectory: TEXT,
  cwd: TEXT,
  env: RECORD,
  clientInfo: RECORD,
};

const PARTS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  dialling: { local: ABOVE_0, remote: ABOVE_0, yieldAfterMs: ABOVE_0 },
  retry: { firstMs: ABOVE_0, ceilingMs: ABOVE_0, attempts: FROM_0 },
};

/** Refuses what cannot be meant; entries of servers are judged one by one later, so that a bad one harms no other. */
export function checkHostOptions(options: unknown): void {
  if (!isRecord(options)) throw refusal('createHost() takes an object of options');
  check(options, CHECKS, '');
  for (const [name, checks] of Object.entries(PARTS)) {
    const part = options[name];
    if (isRecord(part)) check(part, checks, `${name}.`);
  }
}

function check(given: object, checks: Readonly<Record<string, Check>>, prefix: string): void {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(checks, name)) {
      const meant = nearest(name, Object.keys(checks));
      throw refusal(`"${prefix}${name}" is no option${meant ? `; did you mean "${prefix}${meant}"?` : ''}`);
    }
    const [what, holds] = checks[name] as Check;
    if (value !== undefined && !holds(value)) throw refusal(`"${prefix}${name}" must be ${what}`);
  }
}

function refusal(fault: string): HostError {
  return new HostError('bad-config', '', fault);
}
