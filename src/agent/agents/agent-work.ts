import { isRecord } from '../../base/json-value.ts';
import type { Usage } from '../../protocol/agent-message.ts';
import { type LoopEvent, NO_USAGE } from '../loop/loop.ts';
import { completeUsage } from '../models/usage-totals.ts';
import type { TaskUsage } from '../tasks/background-tasks.ts';

/** Counts what a sub-agent does in one run, for programs. */
export class AgentWork {
  readonly #startedAt = performance.now();
  /** The tools of the calls, by the ids of the calls. */
  readonly #tools = new Map<string, string>();
  readonly #stats = {
    readCount: 0,
    searchCount: 0,
    bashCount: 0,
    editFileCount: 0,
    linesAdded: 0,
    linesRemoved: 0,
    otherToolCount: 0,
  };
  #usage: Usage = NO_USAGE;

  observe(event: LoopEvent): void {
    if (event.kind === 'replied') this.#usage = event.message.usage;
    // A refused call ends without having started.
    if (event.kind === 'call-started' || event.kind === 'call-finished')
      this.#tools.set(event.call.id, event.call.name);
    if (event.kind !== 'call-finished') return;
    const { name } = event.call;
    this.#stats[Object.hasOwn(COUNTED, name) ? (COUNTED[name] as Counted) : 'otherToolCount'] += 1;
    const { programResult } = event.outcome;
    if (!isRecord(programResult) || !Array.isArray(programResult.structuredPatch)) return;
    for (const { lines } of programResult.structuredPatch as { lines: string[] }[]) {
      this.#stats.linesAdded += lines.filter((line) => line.startsWith('+')).length;
      this.#stats.linesRemoved += lines.filter((line) => line.startsWith('-')).length;
    }
  }

  /** The usage of the run, in the form of task messages. */
  get usage(): TaskUsage {
    const { totalTokens, totalToolUseCount, totalDurationMs } = this.summary();
    return { total_tokens: totalTokens, tool_uses: totalToolUseCount, duration_ms: totalDurationMs };
  }

  /**
   * The work of the run, in the form of the tool's result. `usage` is that of the last reply, which covers the whole
   * conversation.
   */
  summary() {
    const usage = completeUsage(this.#usage);
    return {
      totalToolUseCount: this.#tools.size,
      totalDurationMs: Math.round(performance.now() - this.#startedAt),
      totalTokens:
        usage.input_tokens +
        usage.cache_creation_input_tokens +
        usage.cache_read_input_tokens +
        usage.output_tokens,
      usage,
      toolsUsed: [...new Set(this.#tools.values())],
      toolStats: this.#stats,
    };
  }
}

type Counted = 'readCount' | 'searchCount' | 'bashCount' | 'editFileCount';

const COUNTED: Readonly<Record<string, Counted>> = {
  Read: 'readCount',
  Glob: 'searchCount',
  Grep: 'searchCount',
  Bash: 'bashCount',
  Edit: 'editFileCount',
  Write: 'editFileCount',
};
