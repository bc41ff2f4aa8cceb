import { stderrDetail } from '../../../base/process/stderr-summary.ts';
import { shellQuote } from '../../../base/text/display-text.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { connectionStep } from '../../../config/explain/next-steps.ts';
import type { ConfiguredServer } from '../../../config/model.ts';
import type { ServerStatus } from '../../../mcp/servers/server-status.ts';
import { acceptCommand, type ToolChange } from '../../../pool/pinning/tool-change.ts';

import { connectFault, type Warning } from '../../host/with-host.ts';
import type { Finding } from './report.ts';

/** What came of the dial. */
export type Live = {
  readonly status: ServerStatus;
  /** What was tolerated. */
  readonly warnings: readonly Pick<Warning, 'message' | 'subject'>[];
  readonly changes: readonly ToolChange[];
  readonly tokens: number;
  readonly ms: number;
};

/** What a server that was dialled is, and what is odd about it. */
export function checkLive(
  configuration: Pick<Configuration, 'context'>,
  server: ConfiguredServer,
  live: Live,
): Finding[] {
  const { name } = server;
  const fault = connectFault(live.status);
  if (fault !== undefined) return [failure(configuration, server, fault, live)];
  return [
    handshake(live.status),
    ...stdoutFinding(live.warnings),
    ...live.warnings
      .filter(({ subject }) => subject?.kind !== 'stdout')
      .map(
        ({ message: text }): Finding => ({
          check: 'tools',
          level: 'warning',
          text,
          fix: 'report this to the server’s author',
        }),
      ),
    ...(live.tokens > DEAR ? [dear(name, live.tokens)] : []),
    ...live.changes.map(
      (change): Finding => ({
        check: 'changed',
        level: 'warning',
        text: `tool ${JSON.stringify(change.tool)} is not what was accepted: ${change.text}`,
        fix: `if that is well: ${acceptCommand(change)}`,
      }),
    ),
  ];
}

/** On stdio, stdout carries the protocol alone: whatever else a server prints there may break a client that is stricter. */
function stdoutFinding(warnings: Live['warnings']): Finding[] {
  const lines = warnings.flatMap(({ subject }) => (subject?.kind === 'stdout' ? [subject.output] : []));
  const [first] = lines;
  if (first === undefined) return [];
  const more = lines.length === 1 ? '' : ` (and ${lines.length - 1} more)`;
  return [
    {
      check: 'stdout',
      level: 'warning',
      text: `non-protocol output on stdout: ${first}${more}`,
      fix: 'have the server log to stderr instead, or report this to the server’s author',
    },
  ];
}

/** What a model is told of all tools at once, before it has to search. */
const DEAR = 20_000;

function dear(name: string, tokens: number): Finding {
  return {
    check: 'cost',
    level: 'warning',
    text: `its definitions take about ${tokens.toLocaleString('en-US')} tokens, so that models have to search for its tools`,
    fix: `keep those you need: "includeTools" of serverSettings.${name}; see toolplane tools --cost -s ${shellQuote(name)}`,
  };
}

function handshake({ serverInfo, era, protocolVersion }: ServerStatus): Finding {
  const who = serverInfo ? `${serverInfo.name} ${serverInfo.version}` : 'a server without a name';
  const speaks = protocolVersion === undefined ? (era ?? '') : `${era ?? ''} ${protocolVersion}`.trim();
  return { check: 'handshake', level: 'ok', text: `${who}, ${speaks} protocol` };
}

function failure(
  configuration: Pick<Configuration, 'context'>,
  server: ConfiguredServer,
  fault: string,
  { status }: Live,
): Finding {
  const { cause, stderr } = status;
  const stderrText = stderrDetail(fault, stderr);
  return {
    check: cause?.code === 'unauthorized' ? 'auth' : 'handshake',
    level: 'error',
    text: stderrText === undefined ? fault : `${fault}; it said: ${stderrText}`,
    fix: connectionStep(server, cause ?? {}, configuration),
  };
}
