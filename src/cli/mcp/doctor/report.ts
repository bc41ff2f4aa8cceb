import { formatCount, pluralize } from '../../output/format.ts';
import { line, type Piece, type Tone } from '../../terminal/render.ts';
import { sanitizeLine } from '../../terminal/sanitize.ts';
import { MARKS } from '../../terminal/section.ts';

/** How bad something is; `waiting` is for a person to decide, and nothing is broken by it. */
type Level = 'ok' | 'warning' | 'waiting' | 'error';

/** One thing that was looked at. */
export type Finding = {
  readonly check: string;
  readonly level: Level;
  /** One sentence without a full stop. */
  readonly text: string;
  /** What to type or to edit. */
  readonly fix?: string;
};

/** One file or server, and what was found about it. */
export type Checked = { readonly name: string; readonly level: Level; readonly findings: readonly Finding[] };

/** What `toolplane mcp doctor --json` prints. */
type DoctorReport = {
  readonly files: readonly Checked[];
  readonly servers: readonly (Checked & ServerFigures)[];
  readonly broken: number;
  readonly warnings: number;
  readonly waiting: number;
};

/** What is known of a server that answered. */
export type ServerFigures = {
  readonly ms?: number;
  readonly tools?: number;
  readonly tokens?: number;
};

const ORDER: readonly Level[] = ['ok', 'warning', 'waiting', 'error'];

/** The worst of what was found. */
export function checked(name: string, findings: readonly Finding[]): Checked {
  const at = Math.max(0, ...findings.map(({ level }) => ORDER.indexOf(level)));
  return { name, level: ORDER[at] as Level, findings };
}

/** All of it, counted. */
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

/** The whole report, for people: what is well on a line, what is not with its fix below. */
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
    .filter(
      (it) =>
        it.level === 'ok' && (it.check === 'handshake' || it.check === 'secrets' || it.check === 'proxy'),
    )
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
  const looked = `${pluralize(files.length, 'file')} and ${pluralize(servers.length, 'server')} looked at`;
  const parts = [
    ...(broken > 0 ? [`${broken} broken`] : []),
    ...(warnings > 0 ? [pluralize(warnings, 'warning')] : []),
    ...(waiting > 0 ? [`${waiting} waiting for you`] : []),
  ];
  return `${looked}: ${parts.length === 0 ? 'all is well' : parts.join(', ')}.`;
}
