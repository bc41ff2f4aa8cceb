import { inputFrame } from '../../terminal/editor/input-rows.ts';
import type { InputView } from '../../terminal/line-editor.ts';
import { cutLine, type Piece, type RenderOptions, renderRows, type Span } from '../../terminal/render.ts';
import type { Frame } from '../../terminal/screen.ts';
import { displayWidth, truncateToWidth } from '../../terminal/terminal-text.ts';
import { elapsed, progressText } from '../message-text.ts';
import { type Call, runningCalls, type View } from '../view.ts';

/** What the live area of the chat shows. */
export type LiveState = {
  readonly view: View;
  /** The part of the model's text that may still change. */
  readonly tail: readonly Piece[];
  readonly input: InputView;
  /** When the running turn started; undefined between turns. */
  readonly turnSince: number | undefined;
  /** A shell command of the user that is running, and when it started. */
  readonly command?: { readonly text: string; readonly since: number } | undefined;
  readonly isStopping: boolean;
  /** The agent is starting. */
  readonly isStarting: boolean;
  readonly now: number;
};

/** The size and the colors of the terminal. */
export type Look = RenderOptions & { readonly rows: number };

/** The live area: the end of the streamed text, the activity, queued messages, the input and the status line. */
export function composeFrame(state: LiveState, look: Look): Frame {
  const { input, view } = state;
  if (state.isStarting) return startFrame(input, look);
  const isAsking = input.prompt !== undefined && input.kind === 'answer';
  const maxRows = Math.max(1, Math.min(10, look.rows - 8));
  const prompt = input.prompt ?? AHEAD;
  const placeholder = input.prompt === undefined ? 'type to queue a message' : '';
  const typed = inputFrame(input, prompt, { ...look, maxRows, placeholder });
  const below = isAsking || input.state.menu || input.state.search ? [] : statusRows(view, look);
  const queued = queuedRows(input.queued, look);
  const doing = isAsking ? undefined : activityText(state);
  const activity = doing === undefined ? [] : rows(cutLine([doing, 'dim']), look);
  const rule = rows(cutLine(['─'.repeat(Math.max(1, look.columns - 1)), 'dim']), look);
  const fixed = [...activity, ...queued, ...rule];
  const room = Math.max(0, look.rows - fixed.length - typed.rows.length - below.length - 1);
  const tail = state.tail.flatMap((piece) => rows(piece, look));
  const shown = room === 0 ? [] : tail.slice(-room);
  const above = shown.length + fixed.length;
  return {
    rows: [...shown, ...fixed, ...typed.rows, ...below],
    ...(typed.cursor && { cursor: { row: above + typed.cursor.row, column: typed.cursor.column } }),
  };
}

/** Before the chat starts, there may be a question; typed text is shown when the chat has started. */
function startFrame(input: InputView, look: Look): Frame {
  if (input.prompt === undefined) return { rows: rows(cutLine(['starting …', 'dim']), look) };
  return inputFrame(input, input.prompt, { ...look, maxRows: 3 });
}

/** The prompt for text that is typed during a turn. */
const AHEAD = '» ';
const MAX_QUEUED_ROWS = 4;

/** Rows of the live area never wrap by themselves. */
function rows(piece: Piece, look: RenderOptions): string[] {
  return renderRows(piece, { ...look, isBounded: true });
}

function queuedRows(queued: readonly string[], look: RenderOptions): string[] {
  const shown = queued
    .slice(0, MAX_QUEUED_ROWS)
    .flatMap((text) => rows(cutLine(['  queued: ', 'dim'], text), look));
  const more = queued.length - MAX_QUEUED_ROWS;
  const rest = more > 0 ? rows(cutLine([`  and ${more} more queued`, 'dim']), look) : [];
  const hint =
    queued.length > 0 ? rows(cutLine(['  sent when the turn ends · ↑ edits the last one', 'dim']), look) : [];
  return [...shown, ...rest, ...hint];
}

/** What is running and how to end it; undefined between turns. */
function activityText({ view, now, isStopping, turnSince, command }: LiveState): string | undefined {
  if (command)
    return `! ${truncateToWidth(command.text, MAX_COMMAND_COLUMNS)} ${elapsed(now - command.since)} · Esc ends it`;
  if (turnSince === undefined) return undefined;
  return `${activity(view, turnSince, now)} · ${isStopping ? 'interrupting, Ctrl-C exits' : 'Esc interrupts'}`;
}

const MAX_COMMAND_COLUMNS = 30;

/** What the agent is doing: the oldest running call and its progress, or the model. */
export function activity(view: View, since: number, now: number): string {
  const [oldest, ...others] = runningCalls(view.calls);
  const what = oldest ? callText(oldest, now) : `thinking ${elapsed(now - since)}`;
  return `${what}${others.length > 0 ? ` and ${others.length} more` : ''}`;
}

function callText({ name, since, progress }: Call, now: number): string {
  return `${name} ${elapsed(now - since)}${progress ? ` · ${progressText(progress)}` : ''}`;
}

/** The status line, which leaves out its less important parts until it fits. */
export function statusRows(view: View, look: RenderOptions): string[] {
  const parts = statusParts(view);
  const room = look.columns - 3;
  const width = () =>
    parts.reduce((sum, { text }) => sum + displayWidth(text) + SEPARATOR.length, -SEPARATOR.length);
  while (parts.length > 1 && width() > room) parts.splice(leastImportant(parts), 1);
  const spans = parts.flatMap(({ text, tone }, at): Span[] => [
    [at === 0 ? '  ' : SEPARATOR, 'dim'],
    [text, tone],
  ]);
  return rows(cutLine(...spans), look);
}

const SEPARATOR = ' · ';

type Part = { readonly text: string; readonly tone: 'dim' | 'warn' | 'accent'; readonly weight: number };

function leastImportant(parts: readonly Part[]): number {
  return parts.reduce((least, { weight }, at) => (weight <= (parts[least]?.weight ?? 0) ? at : least), 0);
}

function statusParts({ init, context, totals, background }: View): Part[] {
  const { model = 'no model yet', mode = 'default' } = init;
  return [
    { text: model, tone: 'dim', weight: 5 },
    {
      text: `${MODES[mode] ?? mode}`,
      tone: mode === 'default' ? 'dim' : mode === 'bypassPermissions' ? 'warn' : 'accent',
      weight: 6,
    },
    ...(context === undefined
      ? []
      : [
          {
            text: `context ${context} %`,
            tone: context >= 80 ? ('warn' as const) : ('dim' as const),
            weight: 4,
          },
        ]),
    ...(totals.usd > 0
      ? [{ text: `$${totals.usd.toFixed(totals.usd < 1 ? 4 : 2)}`, tone: 'dim' as const, weight: 3 }]
      : []),
    ...(background > 0 ? [{ text: `${background} in background`, tone: 'accent' as const, weight: 4 }] : []),
    { text: 'Shift-Tab mode', tone: 'dim', weight: 1 },
    { text: '/help', tone: 'dim', weight: 2 },
  ];
}

/** What a mode does, in few words. */
const MODES: Readonly<Record<string, string>> = {
  default: 'asks before changes',
  acceptEdits: 'edits allowed',
  plan: 'plan mode',
  bypassPermissions: 'all calls allowed',
  dontAsk: 'denies instead of asking',
};
