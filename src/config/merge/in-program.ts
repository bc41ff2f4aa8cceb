import { isRecord } from '../../base/is-record.ts';
import type { WrittenServer } from '../model.ts';

/** A server in the program itself, as the one that has a name: it stands in no file, and nobody dials it. */
export function inProgram(name: string): WrittenServer {
  return { name, scope: 'program', label: 'the program itself', raw: { type: 'sdk' } };
}

/** Whether what has a name is no entry but a server in the program itself. */
export function isInProgram({ scope, raw }: WrittenServer): boolean {
  return scope === 'program' && isRecord(raw) && raw.type === 'sdk';
}
