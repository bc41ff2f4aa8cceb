import { isRecord } from '../../base/is-record.ts';
import { Signal } from './signal.ts';
import type { ServerLog } from './world.ts';

/** Which list of a server changed; `all` after a gap, when nobody could hear which. */
export type ListKind = 'tools' | 'prompts' | 'resources' | 'all';

/** What a server says by itself, told apart. */
export class Notices {
  readonly listChanged = new Signal<[kind: ListKind]>();
  readonly all = new Signal<[method: string, params: Readonly<Record<string, unknown>>]>();
  readonly trouble = new Signal();
  readonly closed = new Signal();
  readonly #log = new Signal<[entry: ServerLog]>();

  constructor(onLog: ((entry: ServerLog) => void) | undefined) {
    if (onLog) this.#log.on(onLog);
  }

  /** Hears one message that is no answer; requests are not for us. */
  hear({ id, method, params: given }: Record<string, unknown>): void {
    if (id !== undefined || typeof method !== 'string') return;
    const params = isRecord(given) ? given : {};
    const list = LISTS.get(method);
    if (list) this.listChanged.emit(list);
    if (method === 'notifications/message') this.#log.emit(readLog(params));
    this.all.emit(method, params);
  }
}

const LISTS: ReadonlyMap<string, ListKind> = new Map([
  ['notifications/list_changed', 'all'],
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
]);

function readLog({ level, logger, data }: Record<string, unknown>): ServerLog {
  return {
    level: typeof level === 'string' ? level : 'info',
    ...(typeof logger === 'string' && { logger }),
    data,
  };
}
