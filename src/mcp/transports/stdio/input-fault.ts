/** Why a message could not be written; `code` is the system's where it has one. */
export function faultOfInput(failure: unknown): Error {
  const { code } = failure as NodeJS.ErrnoException;
  if (code === undefined || code.startsWith('ERR_STREAM')) return notConnected();
  const text = `the server does not read its input any more (${code})`;
  return Object.assign(new Error(text, { cause: failure }), { code });
}

/** The same code as the official client's own failure has. */
export function notConnected(): Error {
  return Object.assign(new Error('the server process is not running'), {
    code: 'NOT_CONNECTED',
    wasSent: false,
  });
}

/** It is alive, but what we sent before still waits for it. */
export function notReading(backlog: number): Error {
  return Object.assign(new Error(`it does not read its input: ${backlog} bytes wait for it`), {
    code: 'not-reading',
    wasSent: false,
  });
}
