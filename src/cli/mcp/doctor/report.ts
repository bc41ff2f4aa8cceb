import { formatCount, pluralize } from '../../../base/text/display-text.ts';
import { line, type Piece, type Tone } from '../../terminal/render.ts';
import { MARKS } from '../../terminal/table.ts';
import { sanitizeLine } from '../../terminal/terminal-text.ts';

/** Severity; `waiting` needs a decision of the user and is not a failure. */
type Level = 'ok' | 'warning' | 'waiting' | 'error';

/** The result of one check. */
export type Finding = {
  readonly check: string;
  readonly level: Level;
  /** One sentence without a period. */
  readonly text: string;
  /** The command to run or the edit to make. */
  readonly fix?: string;
};

/** The findings about one file or server. */
export type Checked = { readonly name: string; readonly level: Level; readonly findings: readonly Finding[] };

/** The document of `toolplane mcp doctor --json`. */
type DoctorReport = {
  readonly files: readonly Checked[];
  readonly servers: readonly (Checked & ServerFigures)[];
  readonly broken: number;
  readonly warnings: number;
  readonly waiting: number;
};

/** Figures of a connected server. */
export type ServerFigures = {
  readonly ms?: number;
  readonly tools?: number;
  readonly tokens?: number;
};

const ORDER: readonly Level[] = ['ok', 'warning', 'waiting', 'error'];

/** The findings about one file or server, with the level of the worst. */
export function checked(name: string, findings: readonly Finding[]): Checked {
  const at = Math.max(0, ...findings.map(({ level }) => ORDER.indexOf(level)));
  return { name, level: ORDER[at] as Level, findings };
}

export function report(
  files: readonly Checked[],
  servers: readonly (Checked & ServerFigures)[],
): DoctorReport {
  const count = (level: Level) => [...files, ...servers].filter((it) => it.level === level).length;
  return {
    files,
    servers,
    broken: count('error'),
    warnings: count('warning'),
    waiting: count('waiting'),
  };
}

const LEVEL_MARKS: Readonly<Record<Level, readonly [string, Tone]>> = {
  ok: MARKS.usable,
  warning: MARKS.doubtful,
  waiting: MARKS.waiting,
  error: MARKS.unusable,
};

/** The report as text: one line for each file and server, and below it each problem with its fix. */
export function reportText(report: DoctorReport): Piece[] {
  const { files, servers } = report;
  return [
    ...(files.length > 0 ? [line(['files', 'strong']), ...files.flatMap((it) => checkedLines(it, ''))] : []),
    ...(servers.length > 0
      ? [line(''), line(['servers', 'strong']), ...servers.flatMap((it) => checkedLines(it, figuresText(it)))]
      : []),
    line(''),
    line(summary(report)),
  ];
}

function checkedLines({ name, level, findings }: Checked, figures: string): Piece[] {
  const [mark, tone] = LEVEL_MARKS[level];
  const problems = findings.filter((it) => it.level !== 'ok');
  const good = findings
    .filter((it) => it.level === 'ok' && (it.check === 'handshake' || it.check === 'secrets'))
    .map(({ text }) => text);
  const summary =
    level === 'error' || level === 'waiting' ? '' : [figures, ...good].filter((it) => it !== '').join('; ');
  return [
    line(
      '  ',
      [mark, tone],
      ' ',
      [sanitizeLine(name), 'strong'],
      summary === '' ? '' : `  ${sanitizeLine(summary)}`,
    ),
    ...problems.flatMap(findingLines),
  ];
}

function findingLines({ level, text, fix }: Finding): Piece[] {
  return [
    line('    ', LEVEL_MARKS[level], ` ${sanitizeLine(text)}`),
    ...(fix === undefined ? [] : [line(['      fix: ', 'dim'], sanitizeLine(fix))]),
  ];
}

function figuresText({ ms, tools, tokens }: ServerFigures): string {
  if (ms === undefined) return '';
  const cost =
    tools === undefined ? '' : `, ${pluralize(tools, 'tool')}, about ${formatCount(tokens ?? 0)} tokens`;
  return `connected in ${(ms / 1000).toFixed(1)} s${cost}`;
}

function summary({ files, servers, broken, warnings, waiting }: DoctorReport): string {
  const count = `${pluralize(files.length, 'file')} and ${pluralize(servers.length, 'server')} checked`;
  const parts = [
    ...(broken > 0 ? [`${broken} broken`] : []),
    ...(warnings > 0 ? [pluralize(warnings, 'warning')] : []),
    ...(waiting > 0 ? [`${waiting} waiting for your decision`] : []),
  ];
  return `${count}: ${parts.length === 0 ? 'no problems found' : parts.join(', ')}.`;
}
