import type { Configuration } from '../../config/configuration.ts';
import {
  type DefinitionFile,
  DefinitionFiles,
  definitionContent,
  definitionRoots,
  formatProblem,
} from './definition-files.ts';
import { expandSkill } from './expand-skill.ts';
import { outputStyles } from './output-styles.ts';
import { readAgent, readSkill } from './skill.ts';

/** What a file defines, for people. */
export type DefinitionRow = {
  readonly kind: DefinitionFile['kind'];
  readonly name: string;
  readonly description: string;
  readonly scope: DefinitionFile['scope'];
  readonly file: string;
  /** Whether another file of the same kind and name is used instead. */
  readonly isShadowed: boolean;
  /** Set if the file would allow or run something: whether the user has approved that. */
  readonly approval?: 'approved' | 'rejected' | 'pending';
};

/** A file of a project whose content would allow or run something, in the form of a settings file. */
type ProjectDefinition = ReturnType<typeof definitionContent> & {
  readonly label: string;
  locate(): undefined;
};

/** The files of the project that need approval, whatever was decided about them. */
export function definitionsToApprove(configuration: Configuration): ProjectDefinition[] {
  return filesOf(configuration)
    .files.filter((file) => file.scope === 'project' && needsApproval(file))
    .map(({ path, label, text }) => ({ ...definitionContent(path, text), label, locate: () => undefined }));
}

/** All files with what they define, lowest precedence first, and their problems. */
export function definitionRows(configuration: Configuration): {
  readonly rows: readonly DefinitionRow[];
  readonly problems: readonly string[];
} {
  const { files, problems } = filesOf(configuration);
  const found = files.map((file) => readDefinition(file, configuration));
  const rows = found.flatMap(({ row }) => row ?? []);
  // For skills and commands the user's files are used, otherwise the project's.
  const order = (row: DefinitionRow) =>
    row.kind === 'skill' || row.kind === 'command'
      ? BY_USER.indexOf(row.scope)
      : BY_PROJECT.indexOf(row.scope);
  const used = new Map<string, DefinitionRow>();
  for (const row of rows.toSorted((a, b) => order(a) - order(b))) used.set(keyOf(row), row);
  return {
    rows: rows.map((row) => ({ ...row, isShadowed: used.get(keyOf(row)) !== row })),
    problems: [
      ...problems.map(formatProblem),
      ...found.flatMap(({ label, problems: own }) => own.map((it) => formatProblem({ label, ...it }))),
    ],
  };
}

const BY_USER: readonly DefinitionRow['scope'][] = ['plugin', 'project', 'user'];
const BY_PROJECT: readonly DefinitionRow['scope'][] = ['plugin', 'user', 'project'];

/** A skill and a command share their names. */
function keyOf({ kind, name }: DefinitionRow): string {
  return `${kind === 'command' ? 'skill' : kind} ${name}`;
}

function filesOf({ context, flags, plugins }: Configuration) {
  const roots = definitionRoots(context, { ...(flags.scopes && { scopes: flags.scopes }), plugins });
  return new DefinitionFiles(() => roots, context).read();
}

function readDefinition(file: DefinitionFile, configuration: Configuration) {
  const { kind, scope, label, path, text } = file;
  const choice =
    scope === 'project' && needsApproval(file)
      ? configuration.approvals.ofSettings(definitionContent(path, text))
      : undefined;
  const approval: DefinitionRow['approval'] = choice === 'new' || choice === 'changed' ? 'pending' : choice;
  const row = (name: string, description: string): DefinitionRow => ({
    ...{ kind, name, description, scope, file: label, isShadowed: false },
    ...(approval && { approval }),
  });
  if (kind === 'agent') {
    const { value, problems } = readAgent(file, () => approval === undefined || approval === 'approved');
    return { label, problems, row: value && row(value.name, value.definition.description) };
  }
  if (kind === 'style') {
    const { styles, problems } = outputStyles([file]);
    const own = [...styles.values()].find((it) => it.label === label);
    const all = problems.flatMap((it) => it.problems);
    return { label, problems: all, row: own && row(own.name, own.description) };
  }
  const { value, problems } = readSkill(file);
  return { label, problems, row: value && row(value.name, value.description) };
}

/** Whether the file would allow calls, run commands or set a permission mode. */
function needsApproval(file: DefinitionFile): boolean {
  if (file.kind === 'style') return false;
  if (file.kind === 'agent')
    return readAgent(file, () => true).value?.definition.permissionMode !== undefined;
  const { value } = readSkill(file);
  if (!value) return false;
  const parts = expandSkill(value, { args: '', sessionId: '' });
  return value.allowedTools.length > 0 || parts.some(({ kind }) => kind === 'command');
}
