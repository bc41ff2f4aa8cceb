import { absolutePath } from '../../permissions/path.ts';
import { failedOutcome, type ToolOutcome } from '../loop/tool-call.ts';
import type { ImageType } from '../results/image-type.ts';
import { view } from '../results/view.ts';
import { defineBuiltIn } from './define.ts';
import { type LinePart, numberLines } from './number-lines.ts';

export const READ = defineBuiltIn({
  name: 'Read',
  description:
    'Reads a file. Text comes as numbered lines (number, tab, line), at most 2000 lines a call: give offset and limit for ' +
    'more, and column for the rest of a long line. PNG, JPEG, GIF and WebP files come as an image. A file must be read before Edit or Write may change it.',
  annotations: { title: 'Read a file', readOnlyHint: true },
  required: {
    file_path: {
      type: 'string',
      minLength: 1,
      description: 'The file; a relative path starts at the working directory.',
    },
  },
  optional: {
    offset: { type: 'integer', minimum: 1, description: 'The first line to give, counted from 1.' },
    limit: { type: 'integer', minimum: 1, description: 'How many lines to give; 2000 when left out.' },
    column: { type: 'integer', minimum: 1, description: 'Where in the first line to begin, counted from 1.' },
  },
  pathMember: 'file_path',
  async run({ file_path, offset = 1, limit, column }, world, signal) {
    const path = absolutePath(file_path, world.workspace);
    const { readReal } = await import('./read-real.ts');
    const file = await readReal(path, signal);
    if (file.kind === 'refused') return failedOutcome(file.fault);
    if (file.kind === 'missing') {
      const { missingFault } = await import('./missing-file.ts');
      return failedOutcome(await missingFault(path, world));
    }
    const outcome = outcomeOf(path, file.bytes, { offset, limit, column });
    if (!outcome.isError) world.files.remember(path, file.digest);
    return outcome;
  },
});

function outcomeOf(path: string, bytes: Buffer, part: LinePart): ToolOutcome {
  const seen = view(bytes);
  if (seen.kind === 'none') return textOutcome(path, bytes, part);
  if (seen.kind === 'image') return imageOutcome(bytes, seen.type);
  if (seen.kind === 'cut-off') return failedOutcome(`${path} is an image whose end is missing: get it again`);
  return failedOutcome(`${path} is an image of ${seen.why}: make it smaller first`);
}

function imageOutcome(bytes: Buffer, type: ImageType): ToolOutcome {
  const source = { type: 'base64', media_type: type, data: bytes.toString('base64') };
  return { content: [{ type: 'image', source }], isError: false };
}

function textOutcome(path: string, bytes: Buffer, part: LinePart): ToolOutcome {
  if (bytes.length === 0) return { content: `${path} is empty: it has no bytes`, isError: false };
  if (bytes.subarray(0, 8192).includes(0)) {
    return failedOutcome(
      `${path} is a binary file: look at it with Bash, with a program that knows its format`,
    );
  }
  const numbered = numberLines(bytes.toString('utf8'), part);
  if (numbered.kind === 'beyond') {
    return failedOutcome(`${path} has ${numbered.lines} lines: offset ${part.offset} is beyond its end`);
  }
  if (numbered.kind === 'beyond-line') {
    const { offset, column } = part;
    return failedOutcome(
      `Line ${offset} of ${path} has ${numbered.characters} characters: column ${column} is beyond its end`,
    );
  }
  return { content: numbered.text, isError: false };
}
