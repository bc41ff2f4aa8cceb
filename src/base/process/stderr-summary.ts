import { truncate } from '../text/display-text.ts';

const MAX_LINES = 5;
const WIDTH = 120;
/** The reason itself may take more: it ends with a path, often. */
const REASON_WIDTH = 300;
/** So far above its reason a program says where in its text it is. */
const PLACE_ABOVE = 4;

/** How Node, Python and many others begin to tell why they end. */
const REASON = /\b\w*(?:Error|Exception)\b.*:/;
const PLACE = /^(?!node:)\S*:\d+$|^\s*File ".*", line \d+/;

/** Lines that programs add to a reason, and that say nothing to those who did not write them. */
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
 * Why a process ended, by its last lines, as it fits into one line of ours: what it gave as a reason, what it said after
 * that, and the very last line, which tells how it ended.
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

/** What is to be added to a message about the process: nothing if it said nothing, or the message tells it. */
export function stderrDetail(message: string, lines: readonly string[]): string | undefined {
  const summary = summarizeStderr(lines);
  return summary === '' || message.includes('it said: ') || message.includes(summary) ? undefined : summary;
}

/** The last one; what is indented belongs to one above it, if that is still there. */
function reasonAt(lines: readonly string[]): number {
  const own = lines.findLastIndex((line) => /^\S/.test(line) && REASON.test(line));
  return own >= 0 ? own : lines.findLastIndex((line) => REASON.test(line));
}

function brief(line: string): string {
  return truncate(line.trim(), WIDTH);
}
