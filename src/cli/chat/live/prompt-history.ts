import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../../base/files/replace-file.ts';
import { isRecord } from '../../../base/json-value.ts';
import { redactText } from '../../../base/text/redact.ts';

/** The file with earlier messages, in Toolplane's directory of the user. */
export function historyPath(home: string): string {
  return join(home, 'history.jsonl');
}

/** A message and the directory in which it was sent. */
type Entry = { readonly text: string; readonly project: string };

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 2000;
const MAX_TEXT_LENGTH = 20_000;
/** A pasted redirect of a sign-in, which contains the authorization code. */
const REDIRECT = /^(\s*\/mcp\s+login\s.*?)\s+https?:\/\/.*$/is;

/**
 * Earlier messages of all chats, kept in a file that only the user can read. The messages of this directory come
 * first. If the file cannot be read or written, the history has only the messages of this chat.
 */
export class PromptHistory {
  readonly #path: string;
  readonly #project: string;

  constructor(path: string, project: string) {
    this.#path = path;
    this.#project = project;
  }

  /** The messages, newest first and each once; those of this directory before the others. */
  read(): readonly string[] {
    const newest = this.#entries().reverse();
    const own = newest.filter(({ project }) => project === this.#project);
    const others = newest.filter(({ project }) => project !== this.#project);
    return [...new Set([...own, ...others].map(({ text }) => text))];
  }

  /** Appends a message without what looks like a credential. A message of more than `MAX_TEXT_LENGTH` characters is not kept. */
  add(text: string): void {
    const kept = redactText(text.replace(REDIRECT, '$1'));
    if (text.trim() === '' || text.length > MAX_TEXT_LENGTH) return;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      this.#shorten();
      appendFileSync(this.#path, `${JSON.stringify({ text: kept, project: this.#project })}\n`, {
        mode: 0o600,
      });
    } catch {
      // The chat works without the history.
    }
  }

  #entries(): Entry[] {
    let file: string;
    try {
      if (statSync(this.#path).size > 2 * MAX_FILE_BYTES) return [];
      file = readFileSync(this.#path, 'utf8');
    } catch {
      return [];
    }
    return file.split('\n').flatMap(parseEntry).slice(-MAX_ENTRIES);
  }

  #shorten(): void {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= MAX_FILE_BYTES) return;
    const kept = this.#entries().slice(-MAX_ENTRIES / 2);
    replaceFile(this.#path, kept.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }
}

function parseEntry(row: string): Entry[] {
  if (row === '') return [];
  try {
    const value: unknown = JSON.parse(row);
    const { text, project } = isRecord(value) ? value : {};
    return typeof text === 'string' && typeof project === 'string' ? [{ text, project }] : [];
  } catch {
    return [];
  }
}
