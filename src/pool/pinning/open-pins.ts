import { type FilePinOptions, filePinStore } from './file-pin-store.ts';
import { Pins } from './pins.ts';

/** What was accepted, kept in a directory: `all()` lists what is not yet, `accept(server, tool?)` accepts it. */
export function openPins(directory: string, options: FilePinOptions = {}): Pins {
  return new Pins(filePinStore(directory, options));
}
