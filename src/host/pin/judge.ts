import type { ListedTool } from '../../protocol/mcp.ts';
import { isAlike } from './canonical.ts';
import { type Definition, definitionOf } from './definition.ts';
import { cut, type Difference, sayDifference } from './difference.ts';
import { differences } from './differences.ts';
import { fingerprint } from './fingerprint.ts';
import { isPlainJson } from './hidden.ts';
import { isTooDeep, sayFindings, type ToolFinding, toolFindings } from './tool-findings.ts';

/** A tool that is not what was accepted, or that nobody has accepted and that hides something. */
export type ToolChange = {
  readonly server: string;
  readonly place: string;
  readonly tool: string;
  /** What was accepted; undefined if nothing ever was. */
  readonly before?: Definition;
  readonly after: Definition;
  readonly fingerprints: { readonly before?: string; readonly after: string };
  readonly differences: readonly Difference[];
  /** What its texts hide now. */
  readonly findings: readonly ToolFinding[];
  /** All of it on one line, for people. */
  readonly text: string;
};

/** Whether a listed tool is other than what was accepted; a tool that hides nothing is accepted at first sight. */
export function judge(
  { server, place }: { readonly server: string; readonly place: string },
  before: Definition | undefined,
  listed: ListedTool | Definition,
): ToolChange | undefined {
  const after = definitionOf(listed);
  if (isTooDeep(after)) return tooDeep({ server, place }, listed);
  // Nearly every tool is done with here: it says what it said, or is new and plain.
  const text = JSON.stringify(after);
  if (before ? JSON.stringify(before) === text || isAlike(before, after) : isPlainJson(text))
    return undefined;
  const findings = toolFindings(after);
  if (!before && findings.length === 0) return undefined;
  const found = before ? differences(before, after) : [];
  const flag = sayFindings(findings);
  const said = [
    ...(found.length > 0 ? [`it changed since it was accepted: ${sayDifference(found)}`] : []),
    ...(flag !== undefined ? [`it hides something: ${flag}`] : []),
  ];
  return {
    server,
    place,
    tool: after.name,
    ...(before && { before }),
    after,
    fingerprints: { ...(before && { before: fingerprint(before) }), after: fingerprint(after) },
    differences: found,
    findings,
    text: said.join('; '),
  };
}

/** A schema nobody can compare is never accepted as it is; only its name is kept. */
function tooDeep(
  { server, place }: { readonly server: string; readonly place: string },
  { name }: ListedTool | Definition,
): ToolChange {
  const after: Definition = { name, inputSchema: { type: 'object' } };
  const text = `its schema has too many levels to be compared with what "${cut(name)}" was`;
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
