/** The package's version; a test compares it with package.json. */
export const VERSION = '0.1.0';
// This module must run on Node 12, so that an old Node can print the message: no newer syntax or imports.

/** The oldest Node that can run the package; a test compares it with `engines` in package.json. */
export const MIN_NODE = '22.19';

/** Why this runtime cannot run the package; undefined if it can. Bun and Deno are not checked by the Node version that they emulate. */
export function nodeVersionError(versions: Readonly<Record<string, string | undefined>>): string | undefined {
  const found = versions.node;
  if (found === undefined || versions.bun !== undefined || versions.deno !== undefined) return undefined;
  const [major = 0, minor = 0] = found.split('.').map(Number);
  const [minMajor = 0, minMinor = 0] = MIN_NODE.split('.').map(Number);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return undefined;
  return `toolplane needs Node ≥ ${MIN_NODE}, found ${found}: install a newer Node (https://nodejs.org, or "nvm install ${minMajor}") and try again`;
}
