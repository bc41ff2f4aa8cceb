import { placeText } from '../fault-text.ts';
import type { Position, Scope, WrittenServer } from '../model.ts';
import type { SettingsSource } from '../sources/found.ts';
import type { Stand } from './explanation.ts';

/** Where an entry stands. */
export function standOf({
  scope,
  label,
  position,
}: Pick<WrittenServer, 'scope' | 'label' | 'position'>): Stand {
  return standAt(scope, label, position);
}

export function standAt(scope: Scope, label: string, position?: Position): Stand {
  return { scope, label, ...(position && { line: position.line, column: position.column }) };
}

/** Where something stands in the settings of this label. */
export function standInSettings(
  sources: readonly SettingsSource[],
  { scope, label }: { readonly scope?: Scope; readonly label: string },
  path: readonly (string | number)[],
): Stand {
  const source = sources.find((it) => it.label === label && (scope === undefined || it.scope === scope));
  return standAt(source?.scope ?? scope ?? 'user', label, source?.locate(path));
}

/** `path:line:column`, as far as it is known. */
export function standText({ label, line, column }: Stand): string {
  return placeText(label, line === undefined || column === undefined ? undefined : { line, column });
}
