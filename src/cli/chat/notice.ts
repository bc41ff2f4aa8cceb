import { isRecord } from '../../base/json-value.ts';
import type { SDKMessage } from '../../protocol/agent-message.ts';
import { changeCall, knownOf, settleCall } from './call-log.ts';
import { line, type Piece } from './piece.ts';
import { retryText } from './retry-text.ts';
import { serversOf } from './server-faults.ts';
import type { Shown, View } from './view.ts';

type Notice = Readonly<Record<string, unknown>>;

/** Messages that are neither the model's, nor a tool's, nor a turn's end. Kinds nobody knows here change nothing. */
export function noticePieces(view: View, message: SDKMessage, at: number): Shown {
  const notice = message as Notice;
  const take = notice.type === 'system' ? NOTICES[String(notice.subtype)] : undefined;
  return take ? take(view, notice, at) : { view, pieces: [] };
}

const NOTICES: Readonly<Record<string, (view: View, notice: Notice, at: number) => Shown>> = {
  init,
  commands_changed: (view, { commands }) => ({
    view: { ...view, commands: commandNames(commands) },
    pieces: [],
  }),
  permission_denied: (view, notice, at) => decided(view, notice, 'deny', at),
  permission_decided: (view, notice, at) =>
    decided(view, notice, notice.behavior === 'allow' ? 'allow' : 'deny', at),
  api_retry: (view, notice) => ({ view, pieces: [line([retryText(notice), 'warn'])] }),
  compact_boundary: (view) => ({ view, pieces: [line(['The conversation was shortened', 'dim'])] }),
  informational: (view, { content, level }) => ({
    view,
    pieces: level === 'info' ? [] : told(content, level === 'warning' ? 'warn' : 'dim'),
  }),
  notification: (view, { text }) => ({ view, pieces: told(text, 'dim') }),
  local_command_output: (view, { content }) => ({
    view: { ...view, hasText: true },
    pieces: told(content, 'plain'),
  }),
};

/** The names in a list of slash commands, which agents give as names or as objects. */
export function commandNames(commands: unknown): string[] {
  if (!Array.isArray(commands)) return [];
  return commands.flatMap((it) => {
    const name = isRecord(it) ? it.name : it;
    return typeof name === 'string' ? [name.replace(/^\//, '')] : [];
  });
}

/** The start of a turn. */
function init(view: View, notice: Notice): Shown {
  const commands = commandNames(notice.slash_commands);
  const { model, permissionMode: mode } = notice;
  return {
    view: {
      ...view,
      servers: serversOf(notice),
      commands: commands.length > 0 ? commands : view.commands,
      init: {
        tools: Array.isArray(notice.tools) ? notice.tools.map(String) : [],
        ...(typeof model === 'string' && { model }),
        ...(typeof mode === 'string' && { mode }),
      },
    },
    pieces: [],
  };
}

function decided(view: View, notice: Notice, behavior: 'allow' | 'deny', at: number): Shown {
  const { tool_use_id, decision_reason: reason, message } = notice;
  const id = String(tool_use_id);
  const why = typeof reason === 'string' ? reason : typeof message === 'string' ? message : undefined;
  const verdict = { behavior, by: 'agent' as const, ...(why !== undefined && { reason: why }) };
  // A call begins when it is decided: those before it in the reply may have taken their time.
  const calls = changeCall(settleCall(view.calls, id, verdict), id, { since: at });
  const { verdict: kept, asked } = knownOf(calls, id);
  if (kept === verdict || why === undefined || asked?.reason !== undefined) {
    return { view: { ...view, calls }, pieces: [] };
  }
  // What was answered here was asked for the reason that the agent gives.
  const known = { ...asked, reason: why.replace(/^canUseTool answered: /, '') };
  return { view: { ...view, calls: changeCall(calls, id, { asked: known }) }, pieces: [] };
}

function told(text: unknown, tone: 'dim' | 'warn' | 'plain'): Piece[] {
  return typeof text === 'string' && text !== '' ? [line([text, tone])] : [];
}
