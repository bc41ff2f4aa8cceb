import { messageOf } from '../protocol/sdk-error.ts';

/** A listener of the user's, asynchronous or not: what it throws is told once, and disturbs nothing. */
export function guarded<T>(
  option: string,
  listener: (value: T) => void,
  warn: (warning: { code: string; message: string }) => void,
): (value: T) => void {
  return (value) => {
    const listen = async (): Promise<void> => listener(value);
    listen().catch((cause) => {
      warn({ code: 'TOOLPLANE_LISTENER_THREW', message: `options.${option} threw: ${messageOf(cause)}` });
    });
  };
}
