import { readFileSync } from 'node:fs';

type LogEvent =
  | { kind: 'start'; argv: string[]; execArgv: string[]; cwd: string; env: Record<string, string> }
  | { kind: 'in'; line: string }
  | { kind: 'out'; frame: Record<string, unknown>; cause?: string }
  | { kind: 'end' };

/** What the recorder CLI wrote down, before anything is normalised. */
export interface RecorderLog {
  readonly argv: readonly string[];
  readonly execArgv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: readonly string[];
  readonly order: readonly string[];
}

/** Reads the log file; one that was never written means the CLI was never started. */
export function readRecorderLog(file: string): RecorderLog | undefined {
  const events = readEvents(file);
  const start = events.find((event) => event.kind === 'start');
  if (!start) return undefined;
  return {
    argv: start.argv,
    execArgv: start.execArgv,
    cwd: start.cwd,
    env: start.env,
    stdin: events.flatMap((event) => (event.kind === 'in' ? [event.line] : [])),
    order: events.flatMap(describe),
  };
}

function readEvents(file: string): LogEvent[] {
  const lines = readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LogEvent);
}

function describe(event: LogEvent): string[] {
  switch (event.kind) {
    case 'start':
      return [];
    case 'in':
      return [`> ${label(JSON.parse(event.line) as Record<string, unknown>)}`];
    case 'out':
      return landmark(event.frame, event.cause);
    case 'end':
      return ['end'];
  }
}

/** Only what an SDK is known to wait for: the rest depends on how the two processes were scheduled. */
function landmark(frame: Record<string, unknown>, cause: string | undefined): string[] {
  if (cause === 'initialize') return ['< initialize answered'];
  return frame.type === 'result' ? ['< result'] : [];
}

function label(frame: Record<string, unknown>): string {
  const inner = frame.request ?? frame.response ?? frame;
  const subtype = (inner as { subtype?: unknown }).subtype;
  return typeof subtype === 'string' ? `${String(frame.type)} ${subtype}` : String(frame.type);
}
