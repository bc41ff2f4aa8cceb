import { isRecord } from '../../base/json-value.ts';
import { sliceText, visibleText } from '../../base/text/display-text.ts';

import type { ConfigContext } from '../config-context.ts';
import type { ConfigDiagnostic, Position } from '../model.ts';

/** Whether a server was meant for everything the person does, or for the project alone. */
export type ImportScope = 'user' | 'project';

/** One file of another program that may name servers. */
export type ImportFile = { readonly path: string; readonly from: ImportScope };

/** What reading takes from the surroundings. */
export type ImportContext = Pick<ConfigContext, 'cwd' | 'userHome' | 'env' | 'platform'> & {
  /** Where the files of the project lie: the repository, or the directory people work in. */
  readonly project: string;
};

/** One server as another program keeps it. */
export type RawServer = {
  readonly name: string;
  /** Where in the file it stands. */
  readonly way: readonly (string | number)[];
  readonly value: unknown;
  readonly from: ImportScope;
  /** It is turned off elsewhere in the file. */
  readonly isOff?: boolean;
};

/** Another program that keeps servers in a file of its own: a row of the table. */
export type ImportProgram = {
  /** The word of the command line. */
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** Where its files lie, the person's own first. */
  places(context: ImportContext): readonly ImportFile[];
  /** Every server of a file, also those that are none. */
  servers(file: Readonly<Record<string, unknown>>, place: ImportFile, context: ImportContext): RawServer[];
  /** A text of an entry as we would write it. */
  rewrite(text: string, place: ImportFile, context: ImportContext): Rewritten;
  /** What becomes of each member of an entry. */
  readonly conversions: MemberConversions;
};

/** `fault` says why it cannot be written so that it means the same here. */
export type Rewritten = {
  readonly text: string;
  readonly notes?: readonly string[];
  readonly fault?: string;
};

/** What a member becomes: members of ours, a line for the person, or a fault that makes the entry unusable. */
export type ConvertedMember = {
  readonly put?: Readonly<Record<string, unknown>>;
  readonly note?: string;
  readonly fault?: string;
  readonly isOff?: boolean;
};

type MemberConversions = Readonly<Record<string, (value: unknown, name: string) => ConvertedMember>>;

/** A server in our own form, not written anywhere yet. */
export type ImportedServer = {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly from: ImportScope;
  /** What was not taken over, and what is to be done: a line each. It never shows a value. */
  readonly notes: readonly string[];
  /** The other program does not start it. */
  readonly isOff: boolean;
  readonly position?: Position;
};

/** What a file of another program came to. */
export type Imported = {
  readonly servers: readonly ImportedServer[];
  readonly faults: readonly ConfigDiagnostic[];
};

type MemberConversion = MemberConversions[string];

/** It is called the same here. */
export const unchanged: MemberConversion = (value, name) => ({ put: { [name]: value } });

/** It is called otherwise here. */
export const renamedTo =
  (ours: string): MemberConversion =>
  (value) => ({ put: { [ours]: value } });

/** It says nothing that matters here. */
export const dropped: MemberConversion = () => ({});

/** There is no counterpart; `why` says what to do, if there is something. */
export const notImported =
  (why = ''): MemberConversion =>
  (_, name) => ({
    note: `"${visibleText(sliceText(name, 80))}" is not imported${why === '' ? '' : `: ${why}`}`,
  });

export const seconds =
  (ours: string): MemberConversion =>
  (value, name) =>
    typeof value === 'number' && Number.isFinite(value) && value > 0
      ? { put: { [ours]: Math.ceil(value * 1000) } }
      : { fault: `"${name}" is a number of seconds above 0` };

/** A flag that keeps the other program from starting it. */
export const disabledIf =
  (off: boolean): MemberConversion =>
  (value) => ({ isOff: value === off });

/** Members that nearly every program calls as we do. */
export const COMMON: MemberConversions = {
  type: unchanged,
  command: unchanged,
  args: unchanged,
  env: unchanged,
  cwd: unchanged,
  url: unchanged,
  headers: unchanged,
};

/** Turns every member of an entry; what nobody knows is told, never dropped in silence. */
export function convertEntry(
  raw: Readonly<Record<string, unknown>>,
  turns: MemberConversions,
): {
  readonly entry: Record<string, unknown>;
  readonly notes: string[];
  readonly faults: string[];
  readonly isOff: boolean;
} {
  const turned = Object.entries(raw)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(
      ([name, value]): ConvertedMember =>
        (Object.hasOwn(turns, name) ? (turns[name] as MemberConversion) : notImported())(value, name),
    );
  const entry: Record<string, unknown> = {};
  for (const [name, value] of turned.flatMap(({ put = {} }) => Object.entries(put))) {
    const before = entry[name];
    entry[name] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
  return {
    entry,
    notes: turned.flatMap(({ note }) => (note === undefined ? [] : [note])),
    faults: turned.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
    isOff: turned.some(({ isOff }) => isOff === true),
  };
}
