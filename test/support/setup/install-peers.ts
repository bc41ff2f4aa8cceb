import { installPeers } from '../../../scripts/peers.ts';

/** Vitest calls this before any test: test files import the peers of `interop/`, which `npm ci` alone does not install. */
export function setup(): void {
  if (!installPeers())
    throw new Error('the peers of interop/ cannot be installed; see the output of npm above');
}
