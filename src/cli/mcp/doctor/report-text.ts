import { onOneLine } from '../../chat/neutralise.ts';
import { line, type Piece, type Tone } from '../../chat/piece.ts';
import { SIGNS } from '../../explain/section.ts';
import { counted, many } from '../../host/figures.ts';
import type { Checked, DoctorReport, Finding, Level, ServerFigures } from './finding.ts';

const MARKS: Readonly<Record<Level, readonly [string, Tone]>> = {
  ok: SIGNS.usable,
  warning: SIGNS.doubtful,
  waiting: SIGNS.waiting,
  error: SIGNS.unusable,
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
  const [mark, tone] = MARKS[level];
  const told = findings.filter((it) => it.level !== 'ok');
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
      [onOneLine(name), 'strong'],
      summary === '' ? '' : `  ${onOneLine(summary)}`,
    ),
    ...told.flatMap(findingLines),
  ];
}

function findingLines({ level, text, fix }: Finding): Piece[] {
  return [
    line('    ', MARKS[level], ` ${onOneLine(text)}`),
    ...(fix === undefined ? [] : [line(['      fix: ', 'dim'], onOneLine(fix))]),
  ];
}

function figuresText({ ms, tools, tokens }: ServerFigures): string {
  if (ms === undefined) return '';
  const cost = tools === undefined ? '' : `, ${many(tools, 'tool')}, about ${counted(tokens ?? 0)} tokens`;
  return `connected in ${(ms / 1000).toFixed(1)} s${cost}`;
}

function summary({ files, servers, broken, warnings, waiting }: DoctorReport): string {
  const looked = `${many(files.length, 'file')} and ${many(servers.length, 'server')} looked at`;
  const parts = [
    ...(broken > 0 ? [`${broken} broken`] : []),
    ...(warnings > 0 ? [many(warnings, 'warning')] : []),
    ...(waiting > 0 ? [`${waiting} waiting for you`] : []),
  ];
  return `${looked}: ${parts.length === 0 ? 'all is well' : parts.join(', ')}.`;
}
