/** How the content of a rule is compared: as a shell command, a path, or a word. */
export type SubjectKind = 'command' | 'path' | 'word';

/** The value of a call that the content of a rule is compared with. */
export type Subject = { readonly kind: SubjectKind; readonly value: string; readonly hasFamilies?: true };

type Row = {
  readonly kind: SubjectKind;
  readonly member: string;
  /** The default of the member. */
  readonly absent?: string;
  /** Rules with content for this tool apply as well: `Edit(x)` also applies to `Write`. */
  readonly also?: string;
  /** `x:*` means `x` and everything whose name begins with `x:`. */
  readonly hasFamilies?: true;
  /** All rules for this tool apply as well: a monitor runs a command as `Bash` does. */
  readonly as?: string;
  /** The compared value of the argument, if it is not the argument itself. */
  readonly compared?: (argument: string) => string | undefined;
};

const SUBJECTS: Readonly<Record<string, Row>> = {
  Bash: { kind: 'command', member: 'command' },
  Monitor: { kind: 'command', member: 'command', as: 'Bash' },
  Read: { kind: 'path', member: 'file_path' },
  Write: { kind: 'path', member: 'file_path', also: 'Edit' },
  Edit: { kind: 'path', member: 'file_path' },
  NotebookEdit: { kind: 'path', member: 'notebook_path', also: 'Edit' },
  Glob: { kind: 'path', member: 'path', absent: '.', also: 'Read' },
  Grep: { kind: 'path', member: 'path', absent: '.', also: 'Read' },
  Agent: { kind: 'word', member: 'subagent_type' },
  Skill: { kind: 'word', member: 'skill', hasFamilies: true },
  connect_mcp: { kind: 'word', member: 'name' },
  // Not a tool: the name under which sampling requests of a server are decided.
  Sampling: { kind: 'word', member: 'server' },
  WebFetch: { kind: 'word', member: 'url', compared: domainRule },
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
  const given = input[found.member] ?? found.absent;
  const value = typeof given === 'string' && found.compared ? found.compared(given) : given;
  if (typeof value !== 'string') return undefined;
  return { kind: found.kind, value, ...(found.hasFamilies && { hasFamilies: true }) };
}

/** Whether a rule for `ruleTool` applies to calls of `tool`; some apply only if they have content. */
export function speaksAbout(ruleTool: string, tool: string, hasContent: boolean): boolean {
  if (ruleTool === tool) return true;
  const { also, as } = row(tool) ?? {};
  return as === ruleTool || (hasContent && also === ruleTool);
}

/** The tool that suggested rules for a call name. */
export function ruleToolOf(tool: string): string {
  return row(tool)?.as ?? tool;
}

/** Whether a call of the tool changes the file its path names. */
export function editsFiles(tool: string): boolean {
  return tool === 'Write' || tool === 'Edit' || tool === 'NotebookEdit';
}

/** Why the content of a rule matches nothing; undefined if it may match. */
export function contentFault(tool: string, content: string): string | undefined {
  if (tool !== 'WebFetch' || /^domain:[^/]+$/i.test(content)) return undefined;
  return 'rules for web pages name the host; write WebFetch(domain:example.com)';
}

/** Rules for pages name the host: `WebFetch(domain:example.com)`. */
function domainRule(url: string): string | undefined {
  if (/^domain:/i.test(url)) return withoutFinalDot(url.toLowerCase());
  return URL.canParse(url) ? `domain:${withoutFinalDot(new URL(url).hostname)}` : undefined;
}

/** `example.com.` names the same host as `example.com`. */
function withoutFinalDot(host: string): string {
  return host.replace(/\.+$/, '');
}

function row(tool: string): Row | undefined {
  return Object.hasOwn(SUBJECTS, tool) ? SUBJECTS[tool] : undefined;
}
