/** The heap in use, in bytes; with --expose-gc, only reachable objects. */
export function readHeap(): number {
  const { gc } = globalThis;
  // Weak references and finalizers need more than one pass.
  for (let pass = 0; gc && pass < 4; pass++) gc();
  return process.memoryUsage().heapUsed;
}
