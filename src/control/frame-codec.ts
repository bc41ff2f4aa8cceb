import { isRecord } from '../base/is-record.ts';
import type { Frame } from '../protocol/control-frame.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';

export function encodeFrame(frame: Frame): string {
  try {
    return JSON.stringify(frame);
  } catch (cause) {
    throw new SdkError('unsendable', `A frame cannot be written as JSON: ${messageOf(cause)}`, { cause });
  }
}

/** A line that is no JSON object is noise some library printed: `undefined`. */
export function decodeFrame(line: string): Frame | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
