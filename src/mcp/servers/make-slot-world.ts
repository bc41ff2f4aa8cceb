import { connect } from '../connection/connect.ts';
import type { ConnectWorld } from '../connection/world.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { DialLimit } from './dial-limit.ts';
import { DIALLING, DialQueue } from './dial-queue.ts';
import { Heartbeat } from './heartbeat.ts';
import { RETRY } from './retry.ts';
import type { ServersOptions } from './servers-options.ts';
import type { SlotWorld } from './slot-world.ts';

const HEARTBEAT_MS = 30_000;
const GRACE_MS = 5_000;

/** What servers have in common, with a default for everything nobody chose; `onWake` hears that the machine slept. */
export function makeSlotWorld(world: ConnectWorld, options: ServersOptions, onWake: () => void): SlotWorld {
  const clock = options.clock ?? SYSTEM_CLOCK;
  return {
    world: { probeSuspects: new Set(), questionLimiters: new Map(), ...world },
    clock,
    connect: options.connect ?? connect,
    queue: new DialQueue({ ...DIALLING, ...options.dialling }, clock),
    limitOf: (key) => options.dialLimits?.of(key) ?? new DialLimit(clock),
    heartbeat: new Heartbeat(options.heartbeatMs ?? HEARTBEAT_MS, clock, onWake),
    random: options.random ?? Math.random,
    retry: { ...RETRY, ...options.retry },
    graceMs: options.graceMs ?? GRACE_MS,
  };
}
