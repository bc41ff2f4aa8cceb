import { truncate } from '../text/display-text.ts';

const MAX_LINES = 5;
const WIDTH = 120;
/** Maximum length of the error line; more than that of other lines, since it often ends with a path. */
const REASON_WIDTH = 300;
/** Maximum number of lines by which the source location may precede the error line. */
const PLACE_ABOVE = 4;

/** How Node, Python and others start the line that names an uncaught error. */
const REASON = /\b\w*(?:Error|Exception)\b.*:/;
const PLACE = /^(?!node:)\S*:\d+$|^\s*File ".*", line \d+/;

/** Stack frames and boilerplate around an error, which do not help users. */
const NOISE: readonly RegExp[] = [
  /^[\s{}[\]^~]*$/,
  /^\s*at (?:\S+ )*\(?(?:node:|file:|<anonymous>|[^()]*:\d+)/,
  /^\s*\.\.\. \d+ lines matching cause/,
  /^\s+(?:code|errno|syscall|url|requireStack): /,
  /^node:\S+:\d+$/,
  /^\s+throw /,
  /^Node\.js v\d/,
  /^Traceback \(most recent call last\):$/,
  /^npm warn /i,
  /^npm error(?: \d+)?$/i,
  /^npm error \d+ (?:Note that you can also install|tarball, folder)/i,
  /^npm error A complete log of this run/i,
];

/**
 * One line that summarizes why a process ended, from the last lines of its stderr: the source location and the error,
 * then the lines after it.
 */
export function summarizeStderr(lines: readonly string[]): string {
  const relevant = lines.filter((line) => !NOISE.some((noise) => noise.test(line)));
  const at = reasonAt(relevant);
  const reason = relevant[at];
  if (reason === undefined)
    return (relevant.length > 0 ? relevant : lines).slice(-MAX_LINES).map(brief).join(' | ');
  const place = relevant.slice(Math.max(0, at - PLACE_ABOVE), at).findLast((line) => PLACE.test(line));
  const after = relevant.slice(at + 1).slice(1 - MAX_LINES);
  return [
    ...(place === undefined ? [] : [brief(place)]),
    truncate(reason.trim(), REASON_WIDTH),
    ...after.map(brief),
  ].join(' | ');
}

/** The stderr summary to append to a message; undefined if stderr was empty or the message already contains it. */
export function stderrDetail(message: string, lines: readonly string[]): string | undefined {
  const summary = summarizeStderr(lines);
  return summary === '' || message.includes('stderr: ') || message.includes(summary) ? undefined : summary;
}

/** Index of the last error line. An indented one belongs to an error above it, so an unindented one is preferred. */
function reasonAt(lines: readonly string[]): number {
  const own = lines.findLastIndex((line) => /^\S/.test(line) && REASON.test(line));
  return own >= 0 ? own : lines.findLastIndex((line) => REASON.test(line));
}

function brief(line: string): string {
  return truncate(line.trim(), WIDTH);
}
