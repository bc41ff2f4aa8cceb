import { isRecord } from '../../../base/json-value.ts';
import { hashEntry } from '../../../config/approval/approved-content.ts';
import type { Edit } from '../../../config/files/edit-document.ts';
import type { WrittenFile } from '../../../config/write/inventory.ts';

/** What is to be done with a file of a project: all of it goes, or what is ours in it, or nothing. */
export type Undo = {
  readonly path: string;
  readonly action: 'remove' | 'edit' | 'leave' | 'gone';
  /** Servers, rules and single values that are still as we wrote them. */
  readonly servers: readonly string[];
  readonly rules: readonly string[];
  readonly values: readonly string[];
  /** What stays although we wrote it, and why. */
  readonly left: readonly { readonly what: string; readonly why: string }[];
  readonly edits: readonly Edit[];
};

/** What is in a file now: `value` if it is an object, `isPlain` if there is no comment in it. */
export type Found =
  | { readonly state: 'absent' }
  | { readonly state: 'unusable'; readonly fault: string }
  | {
      readonly state: 'read';
      readonly text: string;
      readonly value: Readonly<Record<string, unknown>>;
      readonly isPlain: boolean;
    };

/** Only what nobody changed since is taken out; a file goes whole only if we made it and nothing else is in it. */
export function undoOf(file: WrittenFile, found: Found): Undo {
  const { path } = file;
  const none = { path, servers: [], rules: [], values: [], left: [], edits: [] };
  if (found.state === 'absent') return { ...none, action: 'gone' };
  if (found.state === 'unusable')
    return { ...none, action: 'leave', left: [{ what: 'the file', why: found.fault }] };
  if (file.text !== undefined) {
    if (hashEntry(found.text) === file.text) return { ...none, action: 'remove' };
    return { ...none, action: 'leave', left: [{ what: 'the file', why: CHANGED }] };
  }
  const ours = serversOf(file, found.value);
  const lists = Object.entries(file.lists).map(([key, values]) => rulesOf(key, values, found.value));
  const values = valuesOf(file, found.value);
  const edits = [
    ...ours.same.map((name): Edit => ({ path: ['mcpServers', name], value: undefined })),
    ...lists.flatMap((it) => it.edits),
    ...values.map((it) => it.edit),
  ];
  const taken = {
    servers: ours.same,
    rules: lists.flatMap((it) => it.rules),
    values: values.map((it) => it.text),
    left: ours.left,
    edits,
  };
  const isWhole = file.isCreated && found.isPlain && !holdsMore(after(found.value, edits));
  if (isWhole) return { path, action: 'remove', ...taken };
  return { path, action: edits.length > 0 ? 'edit' : ours.left.length > 0 ? 'leave' : 'gone', ...taken };
}

const CHANGED = 'it was changed since';

type Values = Readonly<Record<string, unknown>>;

function serversOf({ servers }: WrittenFile, { mcpServers }: Values) {
  const there = isRecord(mcpServers) ? mcpServers : {};
  const names = Object.keys(servers).filter((name) => Object.hasOwn(there, name));
  const same = names.filter((name) => hashEntry(there[name]) === servers[name]);
  const left = names
    .filter((name) => !same.includes(name))
    .map((name) => ({ what: `the server "${name}"`, why: CHANGED }));
  return { same, left };
}

type Rules = {
  readonly rules: readonly string[];
  readonly edits: readonly Edit[];
};

function rulesOf(key: string, values: readonly string[], value: Values): Rules {
  const way = key.split('.');
  const list = valueAt(value, way);
  if (!Array.isArray(list)) return { rules: [], edits: [] };
  const at = [...list.keys()].filter((index) => values.includes(list[index])).reverse();
  return {
    rules: values.filter((it) => list.includes(it)).map((it) => `${key}: ${it}`),
    edits: at.map((index) => ({ path: [...way, index], value: undefined })),
  };
}

/** What others changed since is theirs. What was there before us comes back. */
function valuesOf({ values }: WrittenFile, value: Values): { readonly text: string; readonly edit: Edit }[] {
  return Object.entries(values).flatMap(([key, { is, was }]) => {
    const way = key.split('.');
    if (valueAt(value, way) !== is) return [];
    const text = `${key}: ${is}${was === undefined ? '' : ` (again ${was})`}`;
    return [{ text, edit: { path: way, value: was } }];
  });
}

function valueAt(value: unknown, way: Edit['path']): unknown {
  return way.reduce<unknown>((it, part) => (isRecord(it) ? it[part] : undefined), value);
}

/** What would be left in the file. */
function after(value: Values, edits: readonly Edit[]): Values {
  const rest = structuredClone(value) as Record<string, unknown>;
  for (const { path, value: next } of edits) {
    const [holder, last] = [valueAt(rest, path.slice(0, -1)), path.at(-1)];
    if (Array.isArray(holder)) holder.splice(Number(last), 1);
    else if (isRecord(holder) && next === undefined) delete holder[String(last)];
    else if (isRecord(holder)) holder[String(last)] = next;
  }
  return rest;
}

/** Empty objects and lists hold nothing, and the version is ours. */
function holdsMore({ version: _, ...members }: Values): boolean {
  return Object.values(members).some(isSomething);
}

function isSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isRecord(value) ? Object.values(value).some(isSomething) : true;
}
