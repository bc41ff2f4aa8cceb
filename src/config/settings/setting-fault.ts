/** What is wrong at one place of settings; it shows nothing of values, which may be secret. */
export type SettingFault = {
  /** An `error` means that it does not count, a `warning` that it does or would not matter. */
  readonly level: 'error' | 'warning';
  readonly path: readonly (string | number)[];
  /** What to say after the key, without a full stop. */
  readonly message: string;
};

/** Reads members one by one and gathers what is wrong with them. */
export class SettingFaults {
  readonly all: SettingFault[] = [];

  error(path: SettingFault['path'], message: string): void {
    this.all.push({ level: 'error', path, message });
  }

  warning(path: SettingFault['path'], message: string): void {
    this.all.push({ level: 'warning', path, message });
  }

  /** The value if it is as it should be, or not there. */
  check<T>(
    value: unknown,
    path: SettingFault['path'],
    isFine: (value: unknown) => value is T,
    rule: string,
  ): T | undefined {
    if (value === undefined) return undefined;
    if (isFine(value)) return value;
    this.error(path, rule);
    return undefined;
  }

  /** The texts of a list, each with its place; what is none does not count. */
  texts(value: unknown, path: SettingFault['path']): { readonly text: string; readonly at: number }[] {
    const list = this.check(value, path, Array.isArray, 'it must be a list of texts') ?? [];
    return list.flatMap((item: unknown, at) => {
      const text = this.check(item ?? null, [...path, at], isText, 'it must be a text');
      return text === undefined ? [] : [{ text, at }];
    });
  }
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}
