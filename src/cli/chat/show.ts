import type { SDKMessage } from '../../protocol/agent-message.ts';
import { addCall, changeCall, findCall, settleCall, type Verdict } from './call-log.ts';
import { noticePieces } from './notice.ts';
import { cutLine, line, type Piece } from './piece.ts';
import { progressOf } from './progress.ts';
import { resultPieces } from './result.ts';
import { type ServerHealth, serverFaults } from './server-faults.ts';
import { elapsed, inputSummary, resultSummary } from './tool-text.ts';
import { addResult } from './totals.ts';
import type { Shown, View } from './view.ts';

/** What happened: a message came, or the person at the terminal did something. */
export type ViewEvent =
  | { readonly kind: 'prompted' }
  | { readonly kind: 'received'; readonly message: SDKMessage; readonly at: number }
  | { readonly kind: 'learned'; readonly servers: readonly ServerHealth[] }
  | { readonly kind: 'asked'; readonly id: string; readonly reason?: string; readonly server?: string }
  | { readonly kind: 'decided'; readonly id: string; readonly verdict: Verdict; readonly at: number };

/** What an event changes, and what it makes to print. */
export function show(view: View, event: ViewEvent): Shown {
  switch (event.kind) {
    case 'prompted':
      return quiet({ ...view, hasText: false });
    case 'learned': {
      const { faults, lines } = serverFaults(view.faults, event.servers);
      return { view: { ...view, faults }, pieces: lines.map((text) => line([text, 'warn'])) };
    }
    case 'asked': {
      const { id, reason, server } = event;
      const asked = { ...(reason !== undefined && { reason }), ...(server !== undefined && { server }) };
      return quiet({ ...view, calls: changeCall(view.calls, id, { asked }) });
    }
    case 'decided': {
      const { id, verdict, at } = event;
      // How long a person thought is not how long the tool took.
      return quiet({ ...view, calls: changeCall(settleCall(view.calls, id, verdict), id, { since: at }) });
    }
    case 'received':
      return receive(view, event.message, event.at);
  }
}

function receive(view: View, message: SDKMessage, at: number): Shown {
  switch (message.type) {
    case 'stream_event':
      return message.parent_tool_use_id === null ? stream(view, message.event) : quiet(view);
    case 'assistant':
      return say(view, message, at);
    case 'user':
      return takeResults(view, message, at);
    case 'result':
      return {
        view: { ...view, totals: addResult(view.totals, message) },
        pieces: resultPieces(message, view.hasText),
      };
    case 'tool_progress':
      return quiet({ ...view, calls: takeProgress(view.calls, message) });
    default:
      return noticePieces(view, message, at);
  }
}

function stream(view: View, event: Record<string, unknown>): Shown {
  if (event.type === 'message_start') {
    const { id } = event.message as { id?: string };
    return quiet({ ...view, ...(id !== undefined && { streaming: id }) });
  }
  if (event.type === 'message_delta') {
    const { stop_reason } = event.delta as { stop_reason?: unknown };
    return quiet({ ...view, wasCutOff: stop_reason === 'max_tokens' });
  }
  if (event.type === 'content_block_start') {
    const { type } = event.content_block as { type?: unknown };
    if (type !== 'text') return quiet(view);
    // What was cut off by its length goes on in the middle of a word.
    return { view: { ...view, wasCutOff: false }, pieces: view.wasCutOff ? [] : [{ kind: 'break' }] };
  }
  const delta = event.type === 'content_block_delta' ? (event.delta as { text?: unknown }) : undefined;
  if (typeof delta?.text !== 'string' || delta.text === '') return quiet(view);
  const id = view.streaming ?? '';
  const streamed = view.streamed.has(id) ? view.streamed : new Set([...view.streamed, id]);
  return { view: { ...view, streamed, hasText: true }, pieces: [{ kind: 'flow', text: delta.text }] };
}

function say(view: View, message: Extract<SDKMessage, { type: 'assistant' }>, at: number): Shown {
  const isNested = message.parent_tool_use_id !== null;
  const wasStreamed = view.streamed.has(message.message.id);
  const pieces: Piece[] = [];
  let { calls, hasText } = view;
  for (const block of message.message.content) {
    if (block.type === 'text' && !isNested && !wasStreamed && block.text !== '') {
      pieces.push(line(block.text));
      hasText = true;
    }
    if (block.type === 'tool_use') {
      const { id, name, input } = block;
      calls = addCall(calls, { id, name, input, isNested, since: at, outcome: 'running' });
      pieces.push(
        cutLine(isNested ? '  ' : '', ['● ', 'accent'], [name, 'strong'], [` ${inputSummary(input)}`, 'dim']),
      );
    }
  }
  return { view: { ...view, calls, hasText }, pieces };
}

const OUTCOMES = {
  ok: ['✓ ', 'good'],
  failed: ['✗ failed ', 'bad'],
  denied: ['⊘ denied ', 'warn'],
} as const;

function takeResults(view: View, message: Extract<SDKMessage, { type: 'user' }>, at: number): Shown {
  const { content } = message.message;
  const pieces: Piece[] = [];
  let { calls } = view;
  for (const block of typeof content === 'string' ? [] : content) {
    const call = block.type === 'tool_result' ? findCall(calls, block.tool_use_id) : undefined;
    if (block.type !== 'tool_result' || call?.outcome !== 'running') continue;
    const outcome = call.verdict?.behavior === 'deny' ? 'denied' : block.is_error ? 'failed' : 'ok';
    calls = changeCall(calls, call.id, { outcome });
    pieces.push(
      cutLine(
        call.isNested ? '    ' : '  ',
        OUTCOMES[outcome],
        [`${call.name} ${elapsed(at - call.since)} `, 'dim'],
        resultSummary(block.content),
      ),
    );
  }
  return { view: { ...view, calls }, pieces };
}

function takeProgress(calls: View['calls'], message: Readonly<Record<string, unknown>>): View['calls'] {
  const id = String(message.tool_use_id);
  const progress = progressOf(message.progress);
  return progress && findCall(calls, id) ? changeCall(calls, id, { progress }) : calls;
}

function quiet(view: View): Shown {
  return { view, pieces: [] };
}
