import { readFile, stat } from 'node:fs/promises';
import { hunksBetween, showDiff } from '../../terminal/markdown/diff.ts';
import { keptLine, line, type Piece } from '../../terminal/render.ts';

type Input = Readonly<Record<string, unknown>>;

/** The input of a call: a command as it would be typed, a change as a diff, any other input as JSON. */
export async function inputPieces(tool: string, input: Input): Promise<Piece[]> {
  const { command, file_path: path, description } = input;
  if (tool === 'Bash' && typeof command === 'string') {
    const rows = command.split('\n').map((row, at) => keptLine('  ', [at === 0 ? '$ ' : '  ', 'dim'], row));
    if (typeof description !== 'string') return [...rows, ...otherFields(input, 'command')];
    return [...rows, line([`  ${description}`, 'dim']), ...otherFields(input, 'command', 'description')];
  }
  const isChange = typeof path === 'string' && (tool === 'Edit' || tool === 'Write');
  const change = isChange ? changeOf(input, await currentText(path)) : undefined;
  if (!change) return jsonPieces(input);
  const { pieces } = showDiff(hunksBetween(change.before, change.after), '  ');
  return [keptLine(`  ${path}`), ...pieces, ...otherFields(input, 'file_path', ...change.fields)];
}

type Change = { readonly before: string; readonly after: string; readonly fields: readonly string[] };

/** The text before and after a call of Edit or Write: of the file if it is known, else of the changed part. */
function changeOf(input: Input, current: string | undefined): Change | undefined {
  const { old_string: from, new_string: to, content, replace_all: isEverywhere } = input;
  if (typeof content === 'string') return { before: current ?? '', after: content, fields: ['content'] };
  if (typeof from !== 'string' || typeof to !== 'string') return undefined;
  const fields = ['old_string', 'new_string'];
  if (current === undefined || from === '' || !current.includes(from))
    return { before: from, after: to, fields };
  const after = isEverywhere === true ? current.replaceAll(from, () => to) : current.replace(from, () => to);
  return { before: current, after, fields };
}

const MAX_FILE_BYTES = 1024 * 1024;

/** The content of a file; undefined if the file is missing, large or not text. */
async function currentText(path: string): Promise<string | undefined> {
  try {
    const file = await stat(path);
    if (!file.isFile() || file.size > MAX_FILE_BYTES) return undefined;
    const text = await readFile(path, 'utf8');
    return text.includes('\0') ? undefined : text.replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}

/** The fields that are not shown in another way. */
function otherFields(input: Input, ...shown: string[]): Piece[] {
  const isDefault = (name: string, value: unknown) => name === 'replace_all' && value === false;
  const rest = Object.entries(input).filter(
    ([name, value]) => !shown.includes(name) && !isDefault(name, value),
  );
  return rest.length === 0 ? [] : jsonPieces(Object.fromEntries(rest));
}

function jsonPieces(value: object): Piece[] {
  return JSON.stringify(value, null, 2)
    .split('\n')
    .map((row) => line(`  ${row}`));
}
