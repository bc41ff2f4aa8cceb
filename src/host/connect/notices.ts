import { isRecord } from '../../base/is-record.ts';
import { Signal } from './signal.ts';
import type { ServerLog } from './world.ts';

/** What a server says by itself, told apart. */
export class Notices {
  readonly listChanged = new Signal();
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
    if (LISTS.has(method)) this.listChanged.emit();
    if (method === 'notifications/message') this.#log.emit(readLog(params));
    this.all.emit(method, params);
  }
}

const LISTS: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
]);

function readLog({ level, logger, data }: Record<string, unknown>): ServerLog {
  return {
    level: typeof level === 'string' ? level : 'info',
    ...(typeof logger === 'string' && { logger }),
    data,
  };
}
