import { isRecord } from '../../base/is-record.ts';

const VERSION = 1;

/** What an entry or a file may ask for depends on where it counts, so that is part of what was approved. */
export type ChosenScope = 'project' | 'local';

export type ServerChoice = {
  readonly scope: ChosenScope;
  readonly path: string;
  readonly name: string;
  readonly hash: string;
  readonly choice: 'approved' | 'rejected';
};

export type SettingsChoice = {
  readonly scope: ChosenScope;
  readonly path: string;
  readonly hash: string;
  readonly choice: 'approved' | 'rejected';
};

/** A repository that is trusted as a whole, as long as it is the same one. */
export type TrustedRepository = { readonly path: string; readonly identity: string };

/** All that people on this machine have said; of each thing the newest last. */
export type ChoiceFile = {
  readonly servers: readonly ServerChoice[];
  /** What was said of the content of settings files. */
  readonly settings: readonly SettingsChoice[];
  readonly trusted: readonly TrustedRepository[];
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
  if (!isListOf(trusted, isTrust)) return { fault: '"trusted" cannot be read' };
  // A path alone, as it was kept before, does not say which repository was meant: the person is asked again.
  return { servers, settings, trusted: trusted.filter((it) => typeof it !== 'string') };
}

function isListOf<T>(value: unknown, isOne: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isOne);
}

function isServerChoice(value: unknown): value is ServerChoice {
  return isRecord(value) && isPlaced(value) && isText(value.name);
}

function isSettingsChoice(value: unknown): value is SettingsChoice {
  return isRecord(value) && isPlaced(value);
}

function isTrust(value: unknown): value is string | TrustedRepository {
  return isText(value) || (isRecord(value) && isText(value.path) && isText(value.identity));
}

function isPlaced({ scope, path, hash, choice }: Readonly<Record<string, unknown>>): boolean {
  if (choice !== 'approved' && choice !== 'rejected') return false;
  return isChosenScope(scope) && isText(path) && isText(hash);
}

/** What lies in a project comes from elsewhere; nobody has to approve anything of another scope. */
export function isChosenScope(scope: unknown): scope is ChosenScope {
  return scope === 'project' || scope === 'local';
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
