/** Calls a listener for each signal until the result is disposed of. */
export function onSignals(listeners: Partial<Record<NodeJS.Signals, () => void>>): Disposable {
  const all = Object.entries(listeners);
  for (const [name, listener] of all) process.on(name, listener);
  return {
    [Symbol.dispose]() {
      for (const [name, listener] of all) process.off(name, listener);
    },
  };
}
