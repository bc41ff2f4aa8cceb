import { shellWords } from '../../base/shell-word.ts';
import type { Configuration } from '../configuration.ts';
import type { LimitRow, TimeoutExplanation } from './explanation.ts';
import { limitsOf } from './limits.ts';
import { nearNames, resolveTool } from './resolve-tool.ts';
import { standText } from './stand.ts';

/** Every limit of a server, or of a tool of it: its value, where it comes from, and what it beat. `name` may be that of a tool. */
export function explainTimeout(
  configuration: Configuration,
  name: string,
  tool?: string,
): TimeoutExplanation {
  const { merged } = configuration;
  const own = merged.servers.find((it) => it.name === name);
  const ref = own ? { server: name, tool } : resolveTool(configuration, name);
  const server = own ?? merged.servers.find((it) => it.name === ref.server);
  if (!server?.entry) return nobody(configuration, name, server !== undefined);
  const limits = limitsOf(server, configuration, ref.tool);
  return {
    kind: 'timeout',
    name,
    server: server.name,
    ...(ref.tool !== undefined && { tool: ref.tool }),
    answer: answerOf(ref.tool ?? server.name, limits),
    standing: 'usable',
    limits,
    next: nextOf(server.name, ref.tool, limits),
  };
}

function answerOf(name: string, limits: readonly LimitRow[]): string {
  const call = limits.find(({ limit }) => limit === 'call');
  const idle = limits.find(({ limit }) => limit === 'idle');
  const silent = idle?.ms === undefined ? '' : `, or after ${msText(idle.ms)} of silence`;
  const at = call?.said.find(({ counts }) => counts)?.at;
  const by = `${call?.by ?? ''}${at ? ` at ${standText(at)}` : ''}`;
  return `A call of "${name}" is ended after ${msText(call?.ms ?? 0)}${silent}: ${by}.`;
}

/** Milliseconds as people read them. */
export function msText(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 120_000) return `${trimmed(ms / 1000)} s`;
  if (ms < 7_200_000) return `${trimmed(ms / 60_000)} min`;
  if (ms < DAY || ms % 3_600_000 === 0) return `${trimmed(ms / 3_600_000)} h`;
  const days = Math.round(ms / DAY);
  return `about ${days === 1 ? 'a day' : `${days} days`} (${ms.toLocaleString('en-US')} ms)`;
}

const DAY = 86_400_000;

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}

function nextOf(server: string, tool: string | undefined, limits: readonly LimitRow[]): string[] {
  const call = limits.find(({ limit }) => limit === 'call');
  const at = call?.said.find(({ counts }) => counts)?.at;
  const where = at && standText(at);
  const member = tool === undefined ? 'timeout' : `toolTimeoutsMs.${tool}`;
  const idle = limits.flatMap(({ said }) => said).find(({ isPending }) => isPending)?.at;
  return [
    where === undefined
      ? `to set one: serverSettings.${server}.${member} (milliseconds) in your settings.json`
      : `to change how long a call may take: ${where}`,
    ...(idle ? [`if ${idle.label} is well, approve it: toolplane mcp approve --settings`] : []),
  ];
}

function nobody(configuration: Configuration, name: string, isBroken: boolean): TimeoutExplanation {
  const [near] = nearNames(configuration, name);
  const guess = near === undefined ? '' : `; did you mean "${near}"?`;
  return {
    kind: 'timeout',
    name,
    answer: isBroken
      ? `"${name}" cannot be used as it is written, so it has no limits.`
      : `There is no server or tool "${name}" here${guess === '' ? '.' : guess}`,
    standing: isBroken ? 'unusable' : 'unknown',
    limits: [],
    next: [
      isBroken || near === undefined
        ? `toolplane explain server ${shellWords(name)}`
        : `toolplane explain timeout ${shellWords(near)}`,
    ],
  };
}
