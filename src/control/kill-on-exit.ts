/** What must not outlive this process. One listener for all: many agents at once are no leak of listeners. */
const alive = new Set<() => void>();

const killAll = () => {
  for (const kill of alive) {
    try {
      kill();
    } catch {
      // A spawner's own kill that throws spares only its own process.
    }
  }
};

/** Calls `kill` if this process exits before the returned function was called. */
export function killOnExit(kill: () => void): () => void {
  if (alive.size === 0) process.on('exit', killAll);
  alive.add(kill);
  return () => {
    if (alive.delete(kill) && alive.size === 0) process.off('exit', killAll);
  };
}
