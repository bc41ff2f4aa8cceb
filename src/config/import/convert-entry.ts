import { isRecord } from '../../base/json-value.ts';
import { sliceText, visibleText } from '../../base/text/display-text.ts';
import type { ConfigContext } from '../config-context.ts';
import type { ConfigDiagnostic, Position } from '../model.ts';

/** Whether a server is for all projects of the user, or for one project. */
export type ImportScope = 'user' | 'project';

/** A file of another program that may contain servers. */
export type ImportFile = { readonly path: string; readonly from: ImportScope };

/** The environment of an import. */
export type ImportContext = Pick<ConfigContext, 'cwd' | 'userHome' | 'env' | 'platform'> & {
  /** The directory of project files: the repository, or the working directory. */
  readonly project: string;
};

/** A server in the format of another program. */
export type RawServer = {
  readonly name: string;
  /** The key path in the file. */
  readonly way: readonly (string | number)[];
  readonly value: unknown;
  readonly from: ImportScope;
  /** Whether another part of the file disables the server. */
  readonly isOff?: boolean;
};

/** A program whose servers can be imported. */
export type ImportProgram = {
  /** The name on the command line. */
  readonly id: string;
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** The paths of its files, the user's file first. */
  places(context: ImportContext): readonly ImportFile[];
  /** All servers of a file, including invalid ones. */
  servers(file: Readonly<Record<string, unknown>>, place: ImportFile, context: ImportContext): RawServer[];
  /** Converts a string of an entry to Toolplane's syntax of variables. */
  rewrite(text: string, place: ImportFile, context: ImportContext): Rewritten;
  /** How each member of an entry is converted. */
  readonly conversions: MemberConversions;
};

/** `fault` is the reason why the string has no equivalent here. */
export type Rewritten = {
  readonly text: string;
  readonly notes?: readonly string[];
  readonly fault?: string;
};

/** The result for a member: members to set, a note for the user, or a fault that makes the entry unusable. */
export type ConvertedMember = {
  readonly put?: Readonly<Record<string, unknown>>;
  readonly note?: string;
  readonly fault?: string;
  readonly isOff?: boolean;
};

type MemberConversions = Readonly<Record<string, (value: unknown, name: string) => ConvertedMember>>;

/** A server in Toolplane's format, not written to a file yet. */
export type ImportedServer = {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly from: ImportScope;
  /** What was not imported, and what to do; one line each, without values. */
  readonly notes: readonly string[];
  /** The server is disabled in the other program. */
  readonly isOff: boolean;
  readonly position?: Position;
};

/** The servers of another program's file. */
export type Imported = {
  readonly servers: readonly ImportedServer[];
  readonly faults: readonly ConfigDiagnostic[];
};

type MemberConversion = MemberConversions[string];

/** Keeps the name of the member. */
export const unchanged: MemberConversion = (value, name) => ({ put: { [name]: value } });

/** Renames the member to Toolplane's name. */
export const renamedTo =
  (ours: string): MemberConversion =>
  (value) => ({ put: { [ours]: value } });

/** Drops the member without a note, because Toolplane does not need it. */
export const dropped: MemberConversion = () => ({});

/** The member has no equivalent; `why` says what to do. */
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
      : { fault: `"${name}" must be a number of seconds above 0` };

/** A flag that disables the server in the other program. */
export const disabledIf =
  (off: boolean): MemberConversion =>
  (value) => ({ isOff: value === off });

/** Members with the same names in nearly every program. */
export const COMMON: MemberConversions = {
  type: unchanged,
  command: unchanged,
  args: unchanged,
  env: unchanged,
  cwd: unchanged,
  url: unchanged,
  headers: unchanged,
};

/** Converts every member of an entry; unknown members produce a note. */
export function convertEntry(
  raw: Readonly<Record<string, unknown>>,
  conversions: MemberConversions,
): {
  readonly entry: Record<string, unknown>;
  readonly notes: string[];
  readonly faults: string[];
  readonly isOff: boolean;
} {
  const converted = Object.entries(raw)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(
      ([name, value]): ConvertedMember =>
        (Object.hasOwn(conversions, name) ? (conversions[name] as MemberConversion) : notImported())(
          value,
          name,
        ),
    );
  const entry: Record<string, unknown> = {};
  for (const [name, value] of converted.flatMap(({ put = {} }) => Object.entries(put))) {
    const before = entry[name];
    entry[name] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
  return {
    entry,
    notes: converted.flatMap(({ note }) => (note === undefined ? [] : [note])),
    faults: converted.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
    isOff: converted.some(({ isOff }) => isOff === true),
  };
}
