import type { Broadcast } from '../base/broadcast.ts';
import type { ToolChange } from '../pool/pinning/judge.ts';
import { openPins } from '../pool/pinning/open-pins.ts';
import { PinWatch } from '../pool/pinning/pin-watch.ts';
import { type Pins, passingPins } from '../pool/pinning/pins.ts';
import type { HostEvent, HostOptions } from './host-options.ts';

/** How many new tools of one list are events of their own; `changes()` has all. */
const MAX_EVENTS = 20;

/** What tools of a host were when they were accepted, and who looks at them. */
export function hostPins(
  { pinsDirectory }: HostOptions,
  cwd: string | undefined,
  events: Pick<Broadcast<HostEvent>, 'emit'>,
): { readonly pins: Pins; readonly watch: PinWatch } {
  const warn = (message: string, server: string) => events.emit({ type: 'warning', server, message });
  const pins = pinsDirectory === undefined ? passingPins() : openPins(pinsDirectory, { note: warn });
  const tell = ({ server, tool, text }: ToolChange) => events.emit({ type: 'changed', server, tool, text });
  const watch = new PinWatch(pins, cwd, {
    changed: tell,
    added: (_, changes) => changes.slice(0, MAX_EVENTS).forEach(tell),
    remark: (server, message) => events.emit({ type: 'warning', server, message }),
  });
  return { pins, watch };
}
