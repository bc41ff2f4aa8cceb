import { resolve } from 'node:path';
import type {
  PlanEntry,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from '@agentclientprotocol/sdk/unstable';
import { isRecord } from '../../base/json-value.ts';
import { truncate, visibleJson, visibleText } from '../../base/text/display-text.ts';
import { guessToolName } from '../../protocol/tool-name.ts';

/** How a client shows a tool call. */
export type ToolCallView = {
  readonly title: string;
  readonly kind: ToolKind;
  readonly content: ToolCallContent[];
  readonly locations: ToolCallLocation[];
};

/** Where a call runs: its directory, and the text of a file that it is about to replace. */
export type CallPlace = {
  readonly cwd: string;
  /** `null` if there is no such file, or if its text is not known. */
  fileText(path: string): string | null;
};

type Input = Readonly<Record<string, unknown>>;
type Describe = (input: Input, path: (value: unknown) => string, place: CallPlace) => Partial<ToolCallView>;

/** One row per built-in tool, of this agent and of other agents; every other tool is `other`. */
const TOOLS: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  [
    'Bash',
    ({ command, description }) => ({
      kind: 'execute',
      title: text(command) || 'Run a command',
      // The title is truncated; the description is written by the model.
      content: [
        ...(text(command) === '' ? [] : [textContent(fenced(visibleLines(text(command))))]),
        ...(text(description) === '' ? [] : [textContent(text(description))]),
      ],
    }),
  ],
  ['Read', ({ file_path, offset }, path) => ({ kind: 'read', ...fileCall('Read', path(file_path), offset) })],
  [
    'Edit',
    ({ file_path, old_string, new_string }, path) => ({
      kind: 'edit',
      ...fileCall('Edit', path(file_path)),
      content: diff(path(file_path), text(old_string), text(new_string)),
    }),
  ],
  [
    'Write',
    ({ file_path, content }, path, { fileText }) => ({
      kind: 'edit',
      ...fileCall('Write', path(file_path)),
      content: diff(path(file_path), fileText(path(file_path)), text(content)),
    }),
  ],
  ['NotebookEdit', ({ notebook_path }, path) => ({ kind: 'edit', ...fileCall('Edit', path(notebook_path)) })],
  [
    'Glob',
    ({ pattern, path: folder }, path) => ({ kind: 'search', ...searchCall('Find', pattern, folder, path) }),
  ],
  [
    'Grep',
    ({ pattern, path: folder }, path) => ({ kind: 'search', ...searchCall('Search', pattern, folder, path) }),
  ],
  ['ToolSearch', ({ query }) => ({ kind: 'search', title: `Search tools: ${text(query)}` })],
  ['Task', subAgent],
  ['Agent', subAgent],
  ['WebFetch', ({ url }) => ({ kind: 'fetch', title: `Fetch ${text(url)}` })],
  ['WebSearch', ({ query }) => ({ kind: 'fetch', title: `Search the web: ${text(query)}` })],
  ['ListMcpResourcesTool', () => ({ kind: 'read', title: 'List resources' })],
  ['ReadMcpResourceTool', ({ uri }) => ({ kind: 'read', title: `Read ${text(uri)}` })],
  ['EnterPlanMode', () => ({ kind: 'switch_mode', title: 'Enter plan mode' })],
  [
    'ExitPlanMode',
    ({ plan }) => ({ kind: 'switch_mode', title: 'Ready to code?', content: [textContent(text(plan))] }),
  ],
]);

/** The title, kind, locations and content of a call; paths are absolute, as ACP requires. */
export function describeToolCall(name: string, input: unknown, place: CallPlace): ToolCallView {
  const given = isRecord(input) ? input : {};
  const path = (value: unknown) => (text(value) === '' ? '' : resolve(place.cwd, text(value)));
  const known = TOOLS.get(name)?.(given, path, place);
  return {
    kind: 'other',
    content: [],
    locations: [],
    ...known,
    title: titleText(known?.title ?? otherTitle(name)),
  };
}

/** The members of the input that the view of a call shows completely. */
const SHOWN_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Bash', ['command', 'description']],
  ['Edit', ['file_path', 'old_string', 'new_string']],
  ['Write', ['file_path', 'content']],
]);

/** The content of a permission request: the view of the call, and everything else that would run, in full. */
export function approvalContent(
  name: string,
  input: Readonly<Record<string, unknown>>,
  { content }: ToolCallView,
): ToolCallContent[] {
  const shown = SHOWN_MEMBERS.get(name) ?? [];
  const rest = Object.fromEntries(
    Object.entries(input).filter(
      // The default, which is added to the input of the model.
      ([member, value]) => !shown.includes(member) && !(member === 'replace_all' && value === false),
    ),
  );
  if (Object.keys(rest).length === 0) return content;
  return [...content, textContent(fenced(visibleJson(JSON.stringify(rest, null, 2))))];
}

/** The content and locations of a result; a member that is undefined stays as the call has it. */
export type ToolResultView = Partial<Pick<ToolCallView, 'content' | 'locations'>>;

/**
 * The view of a result of a call in `cwd`. Output that is not Markdown is fenced; a successful edit shows the changed parts of the file,
 * which `output`, the structured result, contains.
 */
export function describeToolResult(
  name: string,
  content: unknown,
  isError: boolean,
  { output, cwd }: { readonly output?: unknown; readonly cwd: string },
): ToolResultView {
  if (!isError && DIFF_TOOLS.has(name)) return changeView(output, cwd);
  const blocks: unknown[] = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
  const isPlain = isError || PLAIN_TOOLS.has(name);
  return { content: blocks.filter(isRecord).map((block) => resultContent(block, isPlain)) };
}

function resultContent(block: Input, isPlain: boolean): ToolCallContent {
  if (block.type === 'text') return textContent(isPlain ? fenced(text(block.text)) : text(block.text));
  const { source } = block;
  if (block.type === 'image' && isRecord(source) && source.type === 'base64') {
    const image = { type: 'image', data: text(source.data), mimeType: text(source.media_type) } as const;
    return { type: 'content', content: image };
  }
  return textContent(fenced(JSON.stringify(block)));
}

/** One diff per changed part, with its line. A file that did not exist has no parts. */
function changeView(output: unknown, cwd: string): ToolResultView {
  if (!isRecord(output)) return {};
  const hunks = list(output.structuredPatch).filter(isRecord);
  if (text(output.filePath) === '' || hunks.length === 0) return {};
  const path = resolve(cwd, text(output.filePath));
  return {
    content: hunks.flatMap(({ lines }) => diff(path, sideOf(lines, '-'), sideOf(lines, '+'))),
    locations: hunks.map(({ newStart }) => ({
      path,
      ...(typeof newStart === 'number' && { line: newStart }),
    })),
  };
}

/** The lines of one side of a patch: the unchanged ones, and those with this sign. */
function sideOf(lines: unknown, sign: '-' | '+'): string {
  const kept = list(lines)
    .map(text)
    .filter((line) => line.startsWith(' ') || line.startsWith(sign));
  return kept.map((line) => line.slice(1)).join('\n');
}

/** The text of a tool result. */
export function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((block) => (isRecord(block) ? text(block.text) : ''))
    .join('\n');
}

/** The exit code in the result of a command. */
export function exitCodeOf(output: string, isError: boolean): number {
  const [, code] = /^Exit code (\d+)$/m.exec(output) ?? [];
  return code === undefined ? Number(isError) : Number(code);
}

/** The entries of a `TodoWrite` call, which other agents have; undefined for other calls. */
export function planEntries(name: string, input: unknown): PlanEntry[] | undefined {
  if (name !== 'TodoWrite' || !isRecord(input) || !Array.isArray(input.todos)) return undefined;
  return input.todos.filter(isRecord).map(({ content, status }) => ({
    content: text(content),
    priority: 'medium',
    status: status === 'completed' || status === 'in_progress' ? status : 'pending',
  }));
}

/** Tools whose call shows a diff. */
const DIFF_TOOLS: ReadonlySet<string> = new Set(['Edit', 'Write']);
/** Tools whose output is not Markdown. */
const PLAIN_TOOLS: ReadonlySet<string> = new Set(['Bash', 'Read', 'Glob', 'Grep']);
const MAX_TITLE_LENGTH = 200;

function fileCall(verb: string, path: string, line?: unknown): Pick<ToolCallView, 'title' | 'locations'> {
  const from = typeof line === 'number' && line > 0 ? { line } : {};
  return { title: `${verb} ${path || 'a file'}`, locations: path === '' ? [] : [{ path, ...from }] };
}

function searchCall(
  verb: string,
  pattern: unknown,
  folder: unknown,
  path: (value: unknown) => string,
): Pick<ToolCallView, 'title' | 'locations'> {
  const place = path(folder);
  const where = place === '' ? '' : ` in ${place}`;
  return { title: `${verb} ${text(pattern)}${where}`, locations: place === '' ? [] : [{ path: place }] };
}

function subAgent({ description, prompt }: Input): Partial<ToolCallView> {
  return {
    kind: 'think',
    title: text(description) || 'Run a sub-agent',
    content: text(prompt) === '' ? [] : [textContent(text(prompt))],
  };
}

function diff(path: string, oldText: string | null, newText: string): ToolCallContent[] {
  return path === '' ? [] : [{ type: 'diff', path, oldText, newText }];
}

/** `docs: search` for an MCP tool; for display only, since a name cannot be split reliably. */
function otherTitle(name: string): string {
  const guess = guessToolName(name);
  return guess?.tool === undefined ? name : `${guess.server}: ${guess.tool}`;
}

function titleText(title: string): string {
  return truncate(visibleText(title.trim().replaceAll(/\s+/g, ' ')), MAX_TITLE_LENGTH);
}

/** Text in Markdown. */
export function textContent(value: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text: value } };
}

/** The text with escapes for characters that are invisible or change its direction; line breaks are kept. */
function visibleLines(value: string): string {
  return value.split('\n').map(visibleText).join('\n');
}

/** A fence that is longer than every run of backticks in the text. */
function fenced(value: string): string {
  let longest = 2;
  for (const [run] of value.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${value.replace(/\n$/, '')}\n${fence}`;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
