/** Makes a value of one version into one of the next; `version` itself is seen to. */
export type Migration = (value: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/** The files of ours that may change their form over time. */
export type FileKind = 'settings' | 'choices' | 'written' | 'secrets';

/** From the first version to the second, from there to the third, and so on; all files are of the first today. */
export const MIGRATIONS: Readonly<Record<FileKind, readonly Migration[]>> = {
  settings: [],
  choices: [],
  written: [],
  secrets: [],
};

export type Migrated =
  | {
      readonly kind: 'current';
      readonly value: Readonly<Record<string, unknown>>;
      readonly isChanged: boolean;
    }
  /** Few words: what is wrong with its version, and what to do. */
  | { readonly kind: 'unknown'; readonly fault: string };

/** A value of any version we know, as one of the newest; without a version it is of the first. */
export function migrate(
  value: Readonly<Record<string, unknown>>,
  migrations: readonly Migration[],
): Migrated {
  const newest = migrations.length + 1;
  const { version = 1 } = value;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    return { kind: 'unknown', fault: `its "version" is no whole number from 1 to ${newest}` };
  if (version > newest) {
    const fault = `it is of version ${version}, and only versions up to ${newest} are known here; update toolplane`;
    return { kind: 'unknown', fault };
  }
  if (version === newest) return { kind: 'current', value, isChanged: false };
  const next = migrations.slice(version - 1).reduce((it, step) => step(it), value);
  return { kind: 'current', value: { ...next, version: newest }, isChanged: true };
}
