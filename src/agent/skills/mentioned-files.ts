import { readdirSync, realpathSync } from 'node:fs';
import { visibleText } from '../../base/text/display-text.ts';
import { absolutePath } from '../../permissions/path.ts';
import { numberLines } from '../builtins/files/read.ts';
import { mentionedPaths } from './expand-skill.ts';
import { decideFor, type PromptContext } from './skill-commands.ts';

/** How many entries of a directory are listed. */
const MAX_ENTRIES = 1_000;

/**
 * The content of the files and directories that a prompt names with `@`, as texts before the prompt. What a rule forbids or
 * what requires approval is left out, and so is what does not exist. A file counts as read afterwards.
 */
export async function mentionedFiles(
  prompt: string,
  context: PromptContext,
  signal: AbortSignal,
): Promise<string[]> {
  const texts: string[] = [];
  for (const given of mentionedPaths(prompt)) {
    signal.throwIfAborted();
    const workspace = context.workspace();
    const path = realPathOf(absolutePath(given, workspace));
    if (path === undefined) continue;
    const call = { name: 'Read', input: { file_path: path } };
    if (decideFor(call, { readOnlyHint: true }, [], context).kind !== 'allow') continue;
    texts.push(...(listing(path) ?? (await content(path, context, signal))));
  }
  return texts;
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function listing(path: string): string[] | undefined {
  try {
    const names = readdirSync(path).sort();
    const shown = names.slice(0, MAX_ENTRIES).map(visibleText);
    const more = names.length > shown.length ? [`[${names.length - shown.length} more]`] : [];
    const input = { command: `ls ${path}`, description: `Lists files in ${path}` };
    return callTexts('Bash', input, [...shown, ...more].join('\n'));
  } catch {
    return undefined;
  }
}

async function content(path: string, { files }: PromptContext, signal: AbortSignal): Promise<string[]> {
  const { readReal } = await import('../builtins/files/real-file.ts');
  const file = await readReal(path, signal);
  if (file.kind !== 'file' || file.bytes.subarray(0, 8192).includes(0)) return [];
  const numbered = numberLines(file.bytes.toString('utf8'), { offset: 1 });
  if (numbered.kind !== 'lines') return [];
  files.remember(path, file.digest);
  return callTexts('Read', { file_path: path }, numbered.text);
}

function callTexts(tool: string, input: object, result: string): string[] {
  return [
    `Called the ${tool} tool with the following input: ${JSON.stringify(input)}`,
    `Result of calling the ${tool} tool:\n${result}`,
  ];
}
