import { isEqualJson } from '../../base/json-value.ts';
import { shellArguments } from '../../base/text/display-text.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { boundedJson, canonicalValue, type Definition, definitionOf, hashOf } from './definition.ts';
import { canonicalDifferences, type Difference, excerpt, formatDifferences } from './differences.ts';

import { isPlainJson } from './hidden-text.ts';
import { formatFindings, type ToolFinding, toolFindings } from './tool-findings.ts';

/**
 * A tool that requires acceptance: its definition changed, it is new on a known server, or its text contains hidden
 * characters.
 */
export type ToolChange = {
  readonly server: string;
  readonly place: string;
  readonly tool: string;
  /** The accepted definition; undefined if none was accepted. */
  readonly before?: Definition;
  /** The tool is new on a server that was already accepted. */
  readonly isNew?: true;
  readonly after: Definition;
  readonly fingerprints: { readonly before?: string; readonly after: string };
  readonly differences: readonly Difference[];
  /** Hidden characters in its texts. */
  readonly findings: readonly ToolFinding[];
  /** Summary on one line. */
  readonly text: string;
};

/** How a tool without an accepted definition is treated. */
type ChangeOptions = {
  /** An unaccepted tool without hidden characters is accepted, or requires acceptance for the reason given here. */
  readonly unknown?: 'accept' | 'new' | 'unseen';
  /** Accepted tools that the server does not list any more: a new tool may be one of these under another name. */
  readonly gone?: readonly Definition[];
};

/** The change of a listed tool against the accepted definition; undefined if the tool can be used as it is. */
export function findToolChange(
  { server, place }: { readonly server: string; readonly place: string },
  before: Definition | undefined,
  listed: ListedTool | Definition,
  { unknown = 'accept', gone = [] }: ChangeOptions = {},
): ToolChange | undefined {
  const after = definitionOf(listed);
  const json = boundedJson(after);
  const isNew = !before && unknown !== 'accept';
  const known = { ...(before && { before }), ...(isNew && { isNew }) };
  if (json === undefined) return { ...incomparableChange({ server, place }, listed), ...known };
  // Fast path for nearly all tools: unchanged, or new and plain ASCII.
  if (before ? JSON.stringify(before) === json : unknown === 'accept' && isPlainJson(json)) return undefined;
  const old = before && (canonicalValue(before) as Definition);
  const now = canonicalValue(after) as Definition;
  const changes = old ? canonicalDifferences(old, now) : [];
  if (old && changes.length === 0) return undefined;
  const findings = isPlainJson(json) ? [] : toolFindings(after);
  if (!before && findings.length === 0 && unknown === 'accept') return undefined;
  const hidden = formatFindings(findings);
  const added = isNew && unknown === 'new' && hidden === undefined ? describeNew(now, gone) : undefined;
  const reasons = [
    ...(changes.length > 0 ? [`the tool changed since it was accepted: ${formatDifferences(changes)}`] : []),
    ...(added ? [added.text] : !before && hidden === undefined ? [UNSEEN] : []),
    ...(hidden !== undefined ? [`the tool contains deceptive characters: ${hidden}`] : []),
  ];
  return {
    server,
    place,
    tool: after.name,
    ...known,
    after,
    fingerprints: {
      ...(old && { before: hashOf(JSON.stringify(old)) }),
      after: hashOf(JSON.stringify(now)),
    },
    differences: added?.differences ?? changes,
    findings,
    text: reasons.join('; '),
  };
}

/** Whether an allow rule that names the tool accepts it: it is new, comparable, and has no hidden characters. */
export function isUnremarkablyNew({ isNew, findings, fingerprints }: ToolChange): boolean {
  return isNew === true && findings.length === 0 && fingerprints.after !== '';
}

/** False for a definition that is too large to be compared, which is not stored. */
export function isComparable({ fingerprints }: ToolChange): boolean {
  return fingerprints.after !== '';
}

/** Shows the whole definition of a new tool, or how it differs from a removed tool that it resembles. */
function describeNew(
  now: Definition,
  gone: readonly Definition[],
): { readonly text: string; readonly differences: Difference[] } {
  const origin = renamedFrom(now, gone);
  const empty: Definition = { name: now.name, inputSchema: { type: 'object' } };
  const differences = canonicalDifferences(canonicalValue(origin ?? empty) as Definition, now);
  const head = origin ? `${NEW}; it resembles the removed tool "${excerpt(origin.name)}"` : NEW;
  return { text: differences.length > 0 ? `${head}: ${formatDifferences(differences)}` : head, differences };
}

const NEW = 'the tool was added after the other tools of its server were accepted';
const UNSEEN = 'the tool is new, and its server has too many tools to accept new ones automatically';

/** The change of a definition that is too large to be compared; it cannot be accepted. */
function incomparableChange(
  { server, place }: { readonly server: string; readonly place: string },
  { name }: ListedTool | Definition,
): ToolChange {
  const after: Definition = { name, inputSchema: { type: 'object' } };
  const text = `the definition of "${excerpt(name)}" is too large or too deeply nested to be compared, so every call requires approval`;
  return {
    server,
    place,
    tool: name,
    after,
    fingerprints: { after: '' },
    differences: [],
    findings: [],
    text,
  };
}

/** How much of a description is compared. */
const MAX_DESCRIPTION = 2_000;

/** The removed tool that a new one resembles most. */
function renamedFrom(fresh: Definition, gone: readonly Definition[]): Definition | undefined {
  const scored = gone.map((it) => ({ it, score: likeness(it, fresh) }));
  return scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score)[0]?.it;
}

/** 0 unless the descriptions share most words, or some words and the parameters are equal. */
function likeness(one: Definition, other: Definition): number {
  const [a, b] = [termsIn(one), termsIn(other)];
  const shared = [...a].filter((word) => b.has(word)).length / Math.max(1, Math.min(a.size, b.size));
  const hasSameParameters = isEqualJson(one.inputSchema, other.inputSchema);
  return shared >= (hasSameParameters ? 0.3 : 0.6) ? shared + (hasSameParameters ? 1 : 0) : 0;
}

function termsIn({ description = '' }: Definition): ReadonlySet<string> {
  return new Set(
    description
      .slice(0, MAX_DESCRIPTION)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  );
}

/** The command that accepts a tool as it is now; if the name cannot be typed, the one for all tools of its server. */
export function acceptCommand({ server, tool }: { readonly server: string; readonly tool: string }): string {
  const names = /\p{C}/u.test(tool) ? [server] : [server, tool];
  return `toolplane tools accept ${shellArguments(...names)}`;
}
