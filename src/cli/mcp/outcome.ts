import { shellWord } from '../../base/text/display-text.ts';
import type { Configuration } from '../../config/configuration.ts';
import { lossText } from '../../config/explain/entry-status.ts';
import { faultText } from '../../config/files/diagnostics.ts';
import type { LossReason, LostServer, Verdict, WrittenServer } from '../../config/model.ts';
import { whereText } from './where.ts';

/** What became of an entry: whether it has its name, and if so over which others. */
export type Outcome = {
  readonly verdict: Verdict['kind'] | LossReason | 'absent';
  /** One line each, for people. */
  readonly lines: readonly string[];
  readonly shadows: readonly WrittenServer[];
  readonly winner?: WrittenServer;
};

/** What became of the entry of the name in the file at `path`. */
export function outcomeOf({ merged }: Pick<Configuration, 'merged'>, name: string, path: string): Outcome {
  const isIt = (it: WrittenServer) => it.name === name && it.path === path;
  const counted = merged.servers.find(({ written }) => isIt(written));
  if (counted) {
    const shadows = counted.lost.filter(({ why }) => why === 'shadowed').map(({ written }) => written);
    const over = shadows.map((it) => `it counts instead of the one of ${whereText(it)}`);
    const text = verdictText(name, counted.verdict);
    return {
      verdict: counted.verdict.kind,
      lines: [...(text === undefined ? [] : [text]), ...over],
      shadows,
    };
  }
  const lost = allLost({ merged }).find(({ written }) => isIt(written));
  if (!lost) return { verdict: 'absent', lines: [], shadows: [] };
  const { why, winner } = lost;
  return {
    verdict: why,
    lines: [`it does not count: ${lossText(lost)}`],
    shadows: [],
    ...(winner && { winner }),
  };
}

/** Every entry that does not count. */
export function allLost({ merged }: Pick<Configuration, 'merged'>): LostServer[] {
  return [...merged.servers.flatMap(({ lost }) => lost), ...merged.lost];
}

/** Why a server that has its name is not started, and what to do; undefined if it is. */
export function verdictText(name: string, verdict: Verdict): string | undefined {
  switch (verdict.kind) {
    case 'ready':
      return undefined;
    case 'pending':
      return `${verdict.choice === 'changed' ? 'changed since you approved it' : 'pending approval'}: toolplane mcp approve ${shellWord(name)}`;
    case 'rejected':
      return `rejected; to undo that: toolplane mcp approve ${shellWord(name)}`;
    case 'blocked':
      return `blocked by ${verdict.rule}`;
    case 'disabled':
      return `disabled in ${verdict.label}`;
    case 'broken':
      return `broken: ${faultText(verdict.fault)}`;
  }
}
