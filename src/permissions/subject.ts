/** How the content of a rule is read: a shell command, a path, or one exact word. */
export type SubjectKind = 'command' | 'path' | 'word';

/** What a rule's content is compared with in one call. */
export type Subject = { readonly kind: SubjectKind; readonly value: string };

type Row = {
  readonly kind: SubjectKind;
  readonly member: string;
  /** What a call without the member means. */
  readonly absent?: string;
  /** Rules with content for this tool are for the call as well: `Edit(x)` speaks about `Write` too. */
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

/** How content is read for a tool; undefined for tools whose rules take none. */
export function subjectKind(tool: string): SubjectKind | undefined {
  return row(tool)?.kind;
}

/** The argument of the tool that the content of a rule is compared with; undefined for tools whose rules take none. */
export function subjectMember(tool: string): string | undefined {
  return row(tool)?.member;
}

/** What the call is about; undefined when the tool has no subject or the input lacks it. */
export function subjectOf(tool: string, input: Readonly<Record<string, unknown>>): Subject | undefined {
  const found = row(tool);
  if (!found) return undefined;
  const value = input[found.member] ?? found.absent;
  return typeof value === 'string' ? { kind: found.kind, value } : undefined;
}

/** Whether content written for `ruleTool` speaks about a call of `tool`. */
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
