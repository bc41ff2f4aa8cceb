/** The package's version; a test holds it equal to package.json. */
export const VERSION = '0.1.0';
// Runs on every Node since 12: an old Node has to get as far as the message. No syntax or import newer than that.

/** The oldest Node that can run the package; a test holds it equal to `engines` of package.json. */
export const MIN_NODE = '22.19';

/** Why this runtime cannot run the package; undefined if it can. Bun and Deno are not judged by the Node they emulate. */
export function nodeVersionError(versions: Readonly<Record<string, string | undefined>>): string | undefined {
  const found = versions.node;
  if (found === undefined || versions.bun !== undefined || versions.deno !== undefined) return undefined;
  const [major = 0, minor = 0] = found.split('.').map(Number);
  const [minMajor = 0, minMinor = 0] = MIN_NODE.split('.').map(Number);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return undefined;
  return `toolplane needs Node ≥ ${MIN_NODE}, found ${found}: install a newer Node (https://nodejs.org, or "nvm install ${minMajor}") and try again`;
}
