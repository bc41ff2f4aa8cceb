import { closeSync, lstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { parseHeader } from '../../agent/transcript/transcript-entry.ts';
import { isLockText } from '../../base/files/file-lock.ts';
import { isRecord } from '../../base/json-value.ts';
import { documentOf } from '../../config/files/read-document.ts';

type Values = Readonly<Record<string, unknown>>;

/** Nothing of ours is larger. */
const MOST_BYTES = 64 * 2 ** 20;

/** Whether a file holds an object of one of our shapes, of whatever version. */
export function holdsShape(isShape: (value: Values) => boolean): (path: string) => boolean {
  return readable((path) => {
    if (statSync(path).size > MOST_BYTES) return false;
    const found = documentOf(path, readFileSync(path, 'utf8'));
    return found.state === 'read' && isShape(found.value);
  });
}

/** Settings that we have written to: they carry a version then, and something that we know or nothing more. */
export function isSettings({ version, $schema: _, ...members }: Values): boolean {
  const keys = Object.keys(members);
  return Number.isInteger(version) && (keys.length === 0 || keys.some((key) => SETTINGS.includes(key)));
}

const SETTINGS = [
  'permissions',
  'hooks',
  'env',
  'model',
  'sandbox',
  'timeouts',
  'serverSettings',
  'mcpServers',
  'plugins',
  'connectors',
];

export function isSecrets({ version, secrets }: Values): boolean {
  return Number.isInteger(version) && isRecord(secrets);
}

export function isChoices({ version, servers, settings, trusted }: Values): boolean {
  return Number.isInteger(version) && [servers, settings, trusted].every(Array.isArray);
}

export function isInventory({ version, files }: Values): boolean {
  return Number.isInteger(version) && isRecord(files);
}

export function isPins({ format, server, places }: Values): boolean {
  return Number.isInteger(format) && typeof server === 'string' && Array.isArray(places);
}

export function isEras({ format, eras }: Values): boolean {
  return Number.isInteger(format) && isRecord(eras);
}

export function isCatalogue({ format, at, tools }: Values): boolean {
  return Number.isInteger(format) && typeof at === 'number' && Array.isArray(tools);
}

export function isConnector({ version, url, body }: Values): boolean {
  return Number.isInteger(version) && typeof url === 'string' && isRecord(body);
}

/** Other programs keep conversations in files of the same name; the first line tells. */
export const isTranscript = readable((path) => {
  const [first = ''] = beginningOf(path, 64 * 1024).split('\n', 1);
  return parseHeader(JSON.parse(first)) !== undefined;
});

export const isLock = readable((path) => isLockText(beginningOf(path, 4096)));

/** What is no regular file or cannot be read is none of ours. */
function readable(holds: (path: string) => boolean): (path: string) => boolean {
  return (path) => {
    try {
      return lstatSync(path).isFile() && holds(path);
    } catch {
      return false;
    }
  };
}

function beginningOf(path: string, length: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
