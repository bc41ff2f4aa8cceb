/** How the content of a rule is compared: as a shell command, a path, or a word. */
export type SubjectKind = 'command' | 'path' | 'word';

/** The value of a call that the content of a rule is compared with. */
export type Subject = { readonly kind: SubjectKind; readonly value: string };

type Row = {
  readonly kind: SubjectKind;
  readonly member: string;
  /** The default of the member. */
  readonly absent?: string;
  /** Rules with content for this tool apply as well: `Edit(x)` also applies to `Write`. */
  readonly also?: string;
};

const SUBJECTS: Readonly<Record<string, Row>> = {
  Bash: { kind: 'command', member: 'command' },
  Read: { kind: 'path', member: 'file_path' },
  Write: { kind: 'path', member: 'file_path', also: 'Edit' },
  Edit: { kind: 'path', member: 'file_path' },
  Glob: { kind: 'path', member: 'path', absent: '.', also: 'Read' },
  Grep: { kind: 'path', member: 'path', absent: '.', also: 'Read' },
  Task: { kind: 'word', member: 'subagent_type' },
  connect_mcp: { kind: 'word', member: 'name' },
  ReadMcpResourceTool: { kind: 'word', member: 'uri' },
};

/** How content is compared for a tool; undefined for tools whose rules have no content. */
export function subjectKind(tool: string): SubjectKind | undefined {
  return row(tool)?.kind;
}

/** The argument that the content of a rule is compared with; undefined for tools whose rules have no content. */
export function subjectMember(tool: string): string | undefined {
  return row(tool)?.member;
}

/** The compared value of a call; undefined if the tool has none or the input lacks it. */
export function subjectOf(tool: string, input: Readonly<Record<string, unknown>>): Subject | undefined {
  const found = row(tool);
  if (!found) return undefined;
  const value = input[found.member] ?? found.absent;
  return typeof value === 'string' ? { kind: found.kind, value } : undefined;
}

/** Whether rules with content for `ruleTool` apply to calls of `tool`. */
export function speaksAbout(ruleTool: string, tool: string): boolean {
  return ruleTool === tool || row(tool)?.also === ruleTool;
}

/** Whether a call of the tool changes the file its path names. */
export function editsFiles(tool: string): boolean {
  return tool === 'Write' || tool === 'Edit';
}

function row(tool: string): Row | undefined {
  return Object.hasOwn(SUBJECTS, tool) ? SUBJECTS[tool] : undefined;
}
