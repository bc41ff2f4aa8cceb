import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { underLock } from '../../base/files/file-lock.ts';
import { replaceFile } from '../../base/files/replace-file.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { pinFileText, readPinFile } from './pin-file.ts';
import { memoryPinStore, NO_PINS, type PinStore, type ServerPins } from './pin-store.ts';

export type FilePinOptions = {
  /** `read` writes nothing: what changes lasts as long as the process. */
  readonly mode?: 'read' | 'write';
  /** Hears what cannot be read or written, each thing once, and of which server. */
  readonly note?: (text: string, server: string) => void;
};

/**
 * One file a server, readable by its owner only, replaced whole. It is read anew at each change, under a lock, so that of
 * two processes each keeps what the other wrote. Read and written in place: a call waits for the answer, and files are small.
 */
export function filePinStore(directory: string, { mode = 'write', note }: FilePinOptions = {}): PinStore {
  const told = new Set<string>();
  /** Servers whose file must not or cannot be written. */
  const unwritten = memoryPinStore();
  const kept = new Set<string>();
  const tell = (server: string, text: string) => {
    if (!told.has(text)) note?.(text, server);
    told.add(text);
  };
  const keep = (server: string, pins: ServerPins) => {
    kept.add(server);
    return unwritten.update(server, () => pins);
  };

  const load = (server: string): { readonly pins: ServerPins; readonly isWritable: boolean } => {
    const path = pathOf(directory, server);
    const text = readText(path);
    if (text === undefined) return { pins: NO_PINS, isWritable: true };
    if (typeof text !== 'string') {
      tell(server, `what tools of "${server}" were is not known: ${path} cannot be read (${text.fault})`);
      return { pins: NO_PINS, isWritable: false };
    }
    const file = readPinFile(text);
    if (file.kind === 'pins' && file.server === server) return { pins: file.pins, isWritable: true };
    const fault = file.kind === 'pins' ? `it is of the server "${file.server}"` : file.fault;
    tell(
      server,
      `what tools of "${server}" were is not known, they are taken as new: ${path} is of no use: ${fault}`,
    );
    if (file.kind === 'newer' || mode === 'read') return { pins: NO_PINS, isWritable: false };
    setAside(path);
    return { pins: NO_PINS, isWritable: true };
  };

  /** Reads what is there now, and replaces it. */
  const rewrite: PinStore['update'] = (server, change) => {
    const { pins, isWritable } = load(server);
    const next = change(pins);
    if (!isWritable) return keep(server, next);
    try {
      replaceFile(pathOf(directory, server), pinFileText(server, next));
      return next;
    } catch (cause) {
      tell(server, `what tools of "${server}" are is remembered for this session only: ${messageOf(cause)}`);
      return keep(server, next);
    }
  };

  return {
    isLasting: mode === 'write',
    servers() {
      const files = names(directory).flatMap((name) => {
        const text = name.endsWith('.json') ? readText(join(directory, name)) : undefined;
        const file = typeof text === 'string' ? readPinFile(text) : undefined;
        return file?.kind === 'pins' ? [file.server] : [];
      });
      return [...new Set([...files, ...kept])];
    },
    read: (server) => (kept.has(server) ? unwritten.read(server) : load(server).pins),
    update(server, change) {
      if (kept.has(server)) return unwritten.update(server, change);
      if (mode === 'read') return keep(server, change(load(server).pins));
      makeDirectory(directory);
      const lock = `${pathOf(directory, server)}.lock`;
      try {
        return underLock(lock, () => rewrite(server, change));
      } catch (cause) {
        tell(
          server,
          `what tools of "${server}" are is remembered for this session only: ${messageOf(cause)}`,
        );
        return keep(server, change(load(server).pins));
      }
    },
  };
}

/** A key may be any text; its hash is a file name everywhere. */
function pathOf(directory: string, server: string): string {
  return join(directory, `${createHash('sha256').update(server).digest('hex').slice(0, 32)}.json`);
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch {
    // Whoever writes there is told.
  }
}

function setAside(path: string): void {
  try {
    renameSync(path, `${path}.broken`);
  } catch {
    // It is written over then.
  }
}

function readText(path: string): string | undefined | { readonly fault: string } {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    return isAbsent ? undefined : { fault: messageOf(cause) };
  }
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
