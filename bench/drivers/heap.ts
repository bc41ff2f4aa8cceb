/** The heap in use, in bytes; with --expose-gc, of what is still reachable. */
export function readHeap(): number {
  const { gc } = globalThis;
  // One pass frees what held the rest: weak references and finalisers need more.
  for (let pass = 0; gc && pass < 4; pass++) gc();
  return process.memoryUsage().heapUsed;
}
