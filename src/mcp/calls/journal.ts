/**
 * A call in the journal, recorded before it is sent. If the server crashes, the record shows whether the call may have
 * run.
 */
export type CallRecord = {
  readonly id: number;
  readonly server: string;
  readonly tool: string;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** How often the call was sent; counted immediately before each sending. */
  attempts: number;
  /** Absent while the call is running. */
  outcome?: CallOutcome;
  endedAt?: number;
};

/** `lost` may have run; `failed` was answered, refused or never sent. */
export type CallOutcome = 'answered' | 'failed' | 'aborted' | 'timed-out' | 'lost';

/** Records calls, without arguments and results, which may contain secrets. */
export type Journal = {
  begin(server: string, tool: string): CallRecord;
  /** Records that the call is sent now, for the first time or again. */
  sent(record: CallRecord): void;
  end(record: CallRecord, outcome: CallOutcome): void;
  /** Running calls and the last ended ones, oldest first. */
  readonly records: readonly CallRecord[];
};

/** Keeps running calls and the last `capacity` ended ones. */
export function memoryJournal(capacity = 1_000, now: () => number = Date.now): Journal {
  const running = new Set<CallRecord>();
  const ended: CallRecord[] = [];
  let oldest = 0;
  let lastId = 0;
  return {
    begin(server, tool) {
      const record: CallRecord = { id: ++lastId, server, tool, startedAt: now(), attempts: 0 };
      running.add(record);
      return record;
    },
    sent(record) {
      record.attempts++;
    },
    end(record, outcome) {
      record.outcome = outcome;
      record.endedAt = now();
      running.delete(record);
      if (ended.length < capacity) ended.push(record);
      else {
        ended[oldest] = record;
        oldest = (oldest + 1) % capacity;
      }
    },
    get records() {
      return [...ended.slice(oldest), ...ended.slice(0, oldest), ...running];
    },
  };
}
