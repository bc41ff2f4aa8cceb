// Imported by main.ts before the check of Node's version: no syntax newer than Node 12.

/** Whether a write failed because its reader closed the pipe (EPIPE) or the terminal is gone (EIO). */
export function isReaderGone(cause: NodeJS.ErrnoException): boolean {
  return cause.code === 'EPIPE' || cause.code === 'EIO';
}

/**
 * Handles write errors of stdout and stderr for the whole process, so that none ends it with a stack. A reader that is
 * gone (`toolplane tools | head -1`) is not a failure. Any other error, such as a full disk, is reported once.
 */
export function handleOutputErrors(): { hasFailed: boolean } {
  const state = { hasFailed: false };
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (isReaderGone(cause) || state.hasFailed) return;
    state.hasFailed = true;
    process.exitCode = 1;
    process.stderr.write(`toolplane: cannot write to stdout: ${cause.message}\n`);
  });
  // A failure to write to stderr cannot be reported.
  process.stderr.on('error', () => {});
  return state;
}
