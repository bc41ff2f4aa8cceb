import type { Broadcast } from '../base/broadcast.ts';
import type { HostEvent, HostOptions } from './host-options.ts';
import { openPins } from './pin/open-pins.ts';
import { Pins } from './pin/pins.ts';
import { PinWatch } from './pin-watch.ts';

/** What tools of a host were when they were accepted, and who looks at them. */
export function hostPins(
  { pinsDirectory }: HostOptions,
  cwd: string | undefined,
  events: Pick<Broadcast<HostEvent>, 'emit'>,
): { readonly pins: Pins; readonly watch: PinWatch } {
  const warn = (message: string, server: string) => events.emit({ type: 'warning', server, message });
  const pins = pinsDirectory === undefined ? new Pins() : openPins(pinsDirectory, { note: warn });
  const watch = new PinWatch(pins, cwd, {
    changed: ({ server, tool, text }) => events.emit({ type: 'changed', server, tool, text }),
    remark: (server, message) => events.emit({ type: 'warning', server, message }),
  });
  return { pins, watch };
}
