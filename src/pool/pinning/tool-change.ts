import { isEqualJson } from '../../base/json-value.ts';
import { shellWords } from '../../base/text/display-text.ts';
import type { ListedTool } from '../../protocol/mcp.ts';
import { boundedJson, canonicalValue, type Definition, definitionOf, hashOf } from './definition.ts';
import { type Difference, excerpt, formatDifferences } from './difference.ts';
import { orderedDifferences } from './differences.ts';
import { type Effort, fullEffort } from './effort.ts';
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

/** How a tool is judged. */
type ChangeOptions = {
  /** What becomes of a tool nobody has accepted and that hides nothing: `new` and `unseen` say why it is not accepted. */
  readonly unknown?: 'accept' | 'new' | 'unseen';
  /** What was accepted of the server and is not listed any more: a new tool may be one of these renamed. */
  readonly gone?: readonly Definition[];
  readonly effort?: Effort;
};

/** Whether a listed tool is other than what was accepted; a tool that hides nothing is accepted at first sight. */
export function findToolChange(
  { server, place }: { readonly server: string; readonly place: string },
  before: Definition | undefined,
  listed: ListedTool | Definition,
  { unknown = 'accept', gone = [], effort = fullEffort() }: ChangeOptions = {},
): ToolChange | undefined {
  const after = definitionOf(listed);
  const text = boundedJson(after);
  const isNew = !before && unknown !== 'accept';
  const known = { ...(before && { before }), ...(isNew && { isNew }) };
  if (text === undefined) return { ...incomparableChange({ server, place }, listed), ...known };
  // Nearly every tool is done with here: it says what it said, or is new and plain.
  if (before ? JSON.stringify(before) === text : unknown === 'accept' && isPlainJson(text)) return undefined;
  const [old, fresh] = [before && canonicalValue(before), canonicalValue(after)] as [
    Definition | undefined,
    Definition,
  ];
  const isSpent = effort.texts <= 0;
  const changes = old ? (isSpent ? unsaid : orderedDifferences)(old, fresh, effort) : [];
  if (old && changes.length === 0) return undefined;
  const findings = isPlainJson(text) ? [] : toolFindings(after, isSpent ? 'first' : 'all');
  effort.texts -= findings.length;
  if (!before && findings.length === 0 && unknown === 'accept') return undefined;
  const flag = formatFindings(findings);
  const news = isNew && unknown === 'new' && flag === undefined ? newTool(fresh, gone, effort) : undefined;
  const found = news?.differences ?? changes;
  const said = [
    ...(changes.length > 0 ? [`it changed since it was accepted: ${formatDifferences(changes)}`] : []),
    ...(news ? [news.text] : !before && flag === undefined ? [UNSEEN] : []),
    ...(flag !== undefined ? [`it hides something: ${flag}`] : []),
  ];
  return {
    server,
    place,
    tool: after.name,
    ...known,
    after,
    fingerprints: {
      ...(old && { before: hashOf(JSON.stringify(old)) }),
      after: hashOf(JSON.stringify(fresh)),
    },
    differences: found,
    findings,
    text: said.join('; '),
  };
}

/** Whether an allow rule that names the tool accepts it: it is new, can be compared later, and hides nothing. */
export function isUnremarkablyNew({ isNew, findings, fingerprints }: ToolChange): boolean {
  return isNew === true && findings.length === 0 && fingerprints.after !== '';
}

/** A tool that its server did not have when that was accepted: all of it is shown, or how it differs from one that is gone. */
function newTool(
  fresh: Definition,
  gone: readonly Definition[],
  effort: Effort,
): { readonly text: string; readonly differences: Difference[] } {
  if (effort.texts <= 0) return { text: NEW, differences: [] };
  const origin = renamedFrom(fresh, gone);
  const nothing: Definition = { name: fresh.name, inputSchema: { type: 'object' } };
  const differences = orderedDifferences(canonicalValue(origin ?? nothing) as Definition, fresh, effort);
  const head = origin
    ? `${NEW}; it looks like "${excerpt(origin.name)}", which is gone, under another name`
    : NEW;
  return { text: differences.length > 0 ? `${head}: ${formatDifferences(differences)}` : head, differences };
}

/** Where too much differs to say how: whoever asks about the one tool is told. */
function unsaid(old: Definition, fresh: Definition): Difference[] {
  if (isEqualJson(old, fresh)) return [];
  return [{ part: '…', severity: 'high', text: 'its definition is another one' }];
}

const NEW = 'it is new since its server was accepted';
const UNSEEN = 'it is new, and its server has had too many tools for one to be accepted unseen';

/** A definition nobody can compare is never accepted as it is; only its name is kept. */
function incomparableChange(
  { server, place }: { readonly server: string; readonly place: string },
  { name }: ListedTool | Definition,
): ToolChange {
  const after: Definition = { name, inputSchema: { type: 'object' } };
  const text = `its definition is too large or too deep to be compared with what "${excerpt(name)}" was`;
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

/** Which of the tools that are gone a new one most likely is, under another name. */
function renamedFrom(fresh: Definition, gone: readonly Definition[]): Definition | undefined {
  const scored = gone.map((it) => ({ it, score: likeness(it, fresh) }));
  return scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score)[0]?.it;
}

/** 0 unless most words of the shorter description are in the other, or some of them and the parameters are the same. */
function likeness(one: Definition, other: Definition): number {
  const [a, b] = [descriptionWords(one), descriptionWords(other)];
  const shared = [...a].filter((word) => b.has(word)).length / Math.max(1, Math.min(a.size, b.size));
  const hasSameParameters = isEqualJson(one.inputSchema, other.inputSchema);
  return shared >= (hasSameParameters ? 0.3 : 0.6) ? shared + (hasSameParameters ? 1 : 0) : 0;
}

function descriptionWords({ description = '' }: Definition): ReadonlySet<string> {
  return new Set(
    description
      .slice(0, MAX_DESCRIPTION)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [],
  );
}

/** What a person types to accept a tool as it is now; a name that cannot be typed stands for all of its server. */
export function acceptCommand({ server, tool }: { readonly server: string; readonly tool: string }): string {
  const words = /\p{C}/u.test(tool) ? [server] : [server, tool];
  return `toolplane tools accept ${shellWords(...words)}`;
}
