import { isRecord } from '../../../base/is-record.ts';

const VERSION = 1;

export type ServerChoice = {
  readonly path: string;
  readonly name: string;
  readonly hash: string;
  readonly choice: 'approved' | 'rejected';
};

/** All that people on this machine have said; of each thing the newest last. */
export type ChoiceFile = {
  readonly servers: readonly ServerChoice[];
  /** Settings files whose content was approved. */
  readonly settings: readonly { readonly path: string; readonly hash: string }[];
  readonly trusted: readonly string[];
};

export const NO_CHOICES: ChoiceFile = { servers: [], settings: [], trusted: [] };

export function choiceText(file: ChoiceFile): string {
  return `${JSON.stringify({ version: VERSION, ...file }, null, 2)}\n`;
}

/** What the file says, or why it cannot be used: one bad line spoils it, for it may have been a rejection. */
export function readChoiceText(text: string): ChoiceFile | { readonly fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: 'it is no JSON' };
  }
  if (!isRecord(value) || typeof value.version !== 'number') return { fault: 'it has no "version"' };
  if (value.version > VERSION) {
    return { fault: `its version is ${value.version}, and this Toolplane knows ${VERSION}` };
  }
  if (value.version !== VERSION) return { fault: `there is no version ${value.version} of it` };
  const { servers, settings, trusted } = value;
  if (!isListOf(servers, isServerChoice)) return { fault: '"servers" cannot be read' };
  if (!isListOf(settings, isSettingsChoice)) return { fault: '"settings" cannot be read' };
  if (!isListOf(trusted, isText)) return { fault: '"trusted" cannot be read' };
  return { servers, settings, trusted };
}

function isListOf<T>(value: unknown, isOne: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isOne);
}

function isServerChoice(value: unknown): value is ServerChoice {
  if (!isRecord(value) || !isText(value.path) || !isText(value.name) || !isText(value.hash)) return false;
  return value.choice === 'approved' || value.choice === 'rejected';
}

function isSettingsChoice(value: unknown): value is ChoiceFile['settings'][number] {
  return isRecord(value) && isText(value.path) && isText(value.hash);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
