import type { Command } from 'commander';
import { onOneLine } from '../chat/neutralise.ts';
import { loadNamed } from '../command-table.ts';
import { lines } from '../host/lines.ts';
import type { Kind } from './kinds.ts';
import { nextWords, type Word } from './next-words.ts';
import { DIRECTORIES, FILES } from './scripts.ts';

/** Prints what may come next, a word a line, with what it means after a tab. */
export async function printWords(
  program: Command,
  typed: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // The root completes the flags of `chat` too.
  await loadNamed(program, ['chat']);
  await loadNamed(program, typed);
  const { words, value, before = '', begun } = nextWords(program, typed);
  const values = value ? (await valuesOf(value, env)).filter(isNoFlag) : [];
  const all = [...words, ...values.map((it) => ({ ...it, word: before + it.word }))];
  const fitting = all.filter(({ word }) => word.startsWith(begun));
  const asked = value?.kind === 'files' ? [FILES] : value?.kind === 'directories' ? [DIRECTORIES] : [];
  process.stdout.write(lines([...fitting.map(lineOf), ...asked]));
}

/** What somebody else named must not become a flag by being completed. */
function isNoFlag({ word }: Word): boolean {
  return !word.startsWith('-');
}

/** A word with a line break in it could not be told from two. */
function lineOf({ word, description }: Word): string {
  return `${word.replaceAll(/[\n\r\t]/g, ' ')}\t${onOneLine(description)}`;
}

async function valuesOf(kind: Kind, env: NodeJS.ProcessEnv): Promise<Word[]> {
  switch (kind.kind) {
    case 'words':
      return kind.words.map((word) => ({ word, description: '' }));
    case 'servers':
      return (await import('./known-names.ts')).serverWords(env);
    case 'secrets':
      return (await import('./known-names.ts')).secretWords(env);
    case 'sources':
      return (await import('./source-words.ts')).sourceWords();
    case 'files':
    case 'directories':
    case 'nothing':
      return [];
  }
}
