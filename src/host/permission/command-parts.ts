import { shellWords } from './shell.ts';

/**
 * Everything in a command that might run as a command of its own, generously: quotes are looked through, and behind
 * what runs other commands (`sudo`, `find -exec`, `bash -c`) every word may begin one. For refusing, never for allowing.
 */
export function commandParts(command: string): string[] {
  const joined = command
    .replace(/\\\r?\n/g, '')
    .replace(/\$\{IFS[^{}]*\}|\$IFS\b/g, ' ')
    .replace(/\$(?=["'])/g, '');
  const expanded = joined
    .replace(/\{([^{}\s,]*,[^{}\s]*)\}/g, (_, list: string) => list.replaceAll(',', ' '))
    .replace(/\$\(\s*\)|`\s*`|\$\{[^{}]*\}|\$(?:\w+|[@*#?!$-])/g, '');
  const texts = [joined, expanded].flatMap((text) => [text, text.replace(REDIRECTION, ' ')]);
  const pieces = new Set(texts.flatMap((text) => text.split(SEPARATOR)));
  const bare = new Set([...pieces].flatMap((piece) => [piece.trim(), plain(piece)]));
  return [
    command,
    ...starts(command, command.search(SEPARATOR)),
    ...[...bare].flatMap((piece) => starts(piece)),
    ...shellWords(joined).flatMap(quotedCommands),
  ];
}

const REDIRECTION = /(?<![\d<>])\d*[<>]+[&|]?\s*[^\s;&|<>(){}`]+/g;
const SEPARATOR = /[;&|<>(){}\n\r`]/;

function plain(piece: string): string {
  return piece
    .replace(/["'\\]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The text from each word on that may begin a command; `end`, unless negative, is where such words end. */
function starts(text: string, end = -1): string[] {
  const found: string[] = [];
  let isBehind = false;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    if (end >= 0 && index >= end) break;
    // All are ends of the word, so they are cut from the text: a long command must not be copied for each of its words.
    const ends = new Set([word, ...valuesOf(word)].flatMap((it) => [it.length, nameOf(it).length]));
    for (const length of ends) found.push(text.slice(index + word.length - length));
    isBehind ||= runsOthers(word);
    if (!isBehind && !isPassedOver(word)) break;
  }
  return found;
}

/** A word behind a wrapper that is a text of its own, as after `bash -c`, with all that is in it. */
function quotedCommands(words: readonly string[]): string[] {
  const first = words.findIndex((word) => !isPassedOver(word) || runsOthers(word));
  if (first < 0 || !runsOthers(words[first] as string)) return [];
  return words
    .slice(first + 1)
    .flatMap((word) => [word, ...valuesOf(word)])
    .flatMap((word) => (/[\s;&|<>(){}`$"'\\]/.test(word) ? commandParts(word) : [word, nameOf(word)]));
}

function nameOf(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1);
}

/** `-Srm`, `--command=rm` and `x=rm` hold a word that may be a command. */
function valuesOf(word: string): string[] {
  const value = /^(?:-\w|[\w-]+\+?=)(.+)$/s.exec(word)?.[1];
  return value === undefined ? [] : [value];
}

function isPassedOver(word: string): boolean {
  return /^(?:-.*|\w+\+?=.*|\d+[smhd]?|[$!])$/s.test(word);
}

function runsOthers(word: string): boolean {
  return WRAPPERS.has(nameOf(word.replace(/["'\\]/g, '')));
}

const WRAPPERS = new Set(
  [
    'if then elif else do while until time coproc command builtin exec eval trap alias mapfile readarray',
    'bash sh zsh dash ksh ash rbash fish busybox toybox ssh script',
    'sudo doas su runuser pkexec sg gosu su-exec setpriv chroot unshare nsenter fakeroot bwrap firejail proot',
    'env nohup setsid nice ionice chrt taskset numactl timeout stdbuf unbuffer flock systemd-run caffeinate',
    'xargs parallel find fd entr watch strace ltrace valgrind',
  ].flatMap((line) => line.split(' ')),
);
