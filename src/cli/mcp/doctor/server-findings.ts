import { stderrDetail } from '../../../base/process/stderr-summary.ts';
import { shellQuote } from '../../../base/text/display-text.ts';
import { isFailing, isUsable, type ServerRecord } from '../../../config/explain/server-record.ts';
import { formatDiagnostic } from '../../../config/files/diagnostics.ts';
import { acceptCommand, type ToolChange } from '../../../pool/pinning/tool-change.ts';
import type { Warning } from '../../host/with-host.ts';
import type { Finding } from './report.ts';

/** What connecting to a server showed besides its status. */
export type LiveFindings = {
  readonly warnings: readonly Pick<Warning, 'message' | 'subject'>[];
  readonly changes: readonly ToolChange[];
  /** Token cost of the tool definitions. */
  readonly tokens: number;
};

/** The findings about one server: its problem with the next step, warnings about its entry and its tools. */
export function serverFindings(record: ServerRecord, live?: LiveFindings): Finding[] {
  return [
    ...(isUsable(record) ? handshake(record) : [problem(record)]),
    ...record.diagnostics
      .filter(({ level }) => level === 'warning')
      .map((it): Finding => ({ check: 'entry', level: 'warning', text: formatDiagnostic(it) })),
    ...(live && record.state === 'connected' ? liveFindings(record.name, live) : []),
  ];
}

function problem(record: ServerRecord): Finding {
  const { reason, next, connection } = record;
  const stderr = connection === 'not asked' ? undefined : stderrDetail(reason, connection.stderr ?? []);
  const [fix] = next;
  return {
    check: checkOf(record),
    level: isFailing(record) ? 'error' : 'waiting',
    text: stderr === undefined ? reason : `${reason}; stderr: ${stderr}`,
    ...(fix !== undefined && { fix }),
  };
}

/** The step that failed; for a server that may not be started, its state. */
function checkOf({ state, connection }: ServerRecord): string {
  if (state !== 'failed') return state;
  if (connection === 'not asked') return 'expansion';
  return connection.stage ?? (connection.code === 'unauthorized' ? 'auth' : 'handshake');
}

function handshake({ connection }: ServerRecord): Finding[] {
  if (connection === 'not asked') return [];
  const { serverInfo, era = '', protocolVersion = '' } = connection;
  const name = serverInfo ? `${serverInfo.name} ${serverInfo.version}` : 'a server without a name';
  const text = `${name}, ${[era, protocolVersion].filter(Boolean).join(' ')} protocol`;
  return [{ check: 'handshake', level: 'ok', text }];
}

function liveFindings(name: string, { warnings, changes, tokens }: LiveFindings): Finding[] {
  const warn = (check: string, text: string, fix: string): Finding => ({
    check,
    level: 'warning',
    text,
    fix,
  });
  // On stdio, stdout carries only the protocol: other output may break a client that is stricter.
  const stdout = warnings.flatMap(({ subject }) => (subject?.kind === 'stdout' ? [subject.output] : []));
  const [first] = stdout;
  const more = stdout.length > 1 ? ` (and ${stdout.length - 1} more)` : '';
  return [
    ...(first === undefined
      ? []
      : [
          warn(
            'stdout',
            `non-protocol output on stdout: ${first}${more}`,
            "have the server log to stderr instead, or report this to the server's author",
          ),
        ]),
    ...warnings
      .filter(({ subject }) => subject?.kind !== 'stdout')
      .map(({ message }) => warn('tools', message, "report this to the server's author")),
    ...(tokens > MAX_TOKENS
      ? [
          warn(
            'cost',
            `the tool definitions of the server take about ${tokens.toLocaleString('en-US')} tokens, so the model has to search for tools`,
            `list the tools you need in "includeTools" of serverSettings.${name}; see toolplane tools --cost -s ${shellQuote(name)}`,
          ),
        ]
      : []),
    ...changes.map((change) =>
      warn(
        'changed',
        `the definition of tool ${JSON.stringify(change.tool)} is not accepted: ${change.text}`,
        `to accept it: ${acceptCommand(change)}`,
      ),
    ),
  ];
}

/** Token cost above which a model searches for tools instead of getting all definitions. */
const MAX_TOKENS = 20_000;
