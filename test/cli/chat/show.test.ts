import { expect, test } from 'vitest';
import { show, type ViewEvent } from '../../../src/cli/chat/show.ts';
import { EMPTY_VIEW, type View } from '../../../src/cli/chat/view.ts';
import { cutLine, line, type Piece, type Span } from '../../../src/cli/terminal/render.ts';
import type { SDKMessage } from '../../../src/protocol/agent-message.ts';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import { delta, messageStart, system, toolResult, toolUse } from './support/open-chat.ts';
import { text } from './support/text.ts';

const got = (message: Frame, at = 0): ViewEvent => ({
  kind: 'received',
  message: message as unknown as SDKMessage,
  at,
});
const said = (text: string, more: Frame = {}) => ({
  ...toolUse('x', 'x'),
  ...more,
  message: { id: 'msg', content: [{ type: 'text', text }] },
});

/** The output of a series of events, and the resulting view. */
function play(...events: ViewEvent[]): { view: View; pieces: Piece[] } {
  let view = EMPTY_VIEW;
  const pieces = events.flatMap((event) => {
    const shown = show(view, event);
    view = shown.view;
    return [...shown.pieces];
  });
  return { view, pieces };
}

function resultLine(...spans: Span[]): Piece {
  return { kind: 'line', spans: ['  ', ...spans], overflow: 'wrap', hang: 4 };
}

test('shows text that was not streamed, and streamed text only once', () => {
  const streamed = play(got(messageStart('msg')), got(delta('Hi')), got(said('Hi')));
  expect(streamed.pieces).toEqual([{ kind: 'flow', text: 'Hi' }]);
  expect(text(play(got(said('Hi'))).pieces)).toEqual(['', 'Hi', '']);
});

test('hides text of a nested agent and shows its calls indented', () => {
  const nested = { parent_tool_use_id: 't0' };
  const { pieces } = play(
    got({ ...delta('inner'), ...nested }),
    got(said('inner', nested)),
    got({ ...toolUse('t1', 'Read', { path: '/x' }), ...nested }),
    got(toolResult('t1', 'text'), 12_000),
  );
  expect(pieces).toEqual([
    cutLine('  ', ['● ', 'accent'], ['Read', 'strong'], [' path: /x', 'dim']),
    cutLine('    ', ['✓ ', 'good'], ['Read 12 s ', 'dim'], 'text'),
  ]);
});

test('matches parallel calls with their results; ignores a result without a call', () => {
  const { pieces, view } = play(
    got(toolUse('t1', 'one'), 0),
    got(toolUse('t2', 'two'), 0),
    got(toolResult('t2', 'second'), 100),
    got(toolResult('t9', 'without a call'), 100),
    got(toolResult('t1', 'first'), 65_000),
    got(toolResult('t1', 'again'), 65_000),
  );
  expect(pieces.slice(2)).toEqual([
    resultLine(['✓ ', 'good'], ['two 0.1 s ', 'dim'], 'second'),
    resultLine(['✓ ', 'good'], ['one 1 min 05 s ', 'dim'], 'first'),
  ]);
  expect(view.calls.calls.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['t1', 'ok'],
    ['t2', 'ok'],
  ]);
});

test('a denied call is shown as denied, for every decider and at any time', () => {
  const verdict = { behavior: 'deny', by: 'you', reason: 'no' } as const;
  const early = play(
    { kind: 'asked', id: 't1', reason: 'why not' },
    { kind: 'decided', id: 't1', verdict, at: 5_000 },
    got(toolUse('t1', 'one'), 5_000),
    got(toolResult('t1', 'no', { is_error: true }), 5_000),
  );
  expect(early.pieces.at(-1)).toEqual(resultLine(['⊘ denied ', 'warn'], ['one 0.0 s ', 'dim'], 'no'));
  expect(early.view.calls.calls[0]).toMatchObject({
    asked: { reason: 'why not' },
    verdict,
    outcome: 'denied',
  });
  const byRule = play(
    got(toolUse('t1', 'one')),
    got(
      system('permission_denied', {
        tool_use_id: 't1',
        tool_name: 'one',
        message: 'no',
        decision_reason: 'a rule',
      }),
    ),
    got(toolResult('t1', 'no', { is_error: true })),
  );
  expect(byRule.view.calls.calls[0]).toMatchObject({
    outcome: 'denied',
    verdict: { behavior: 'deny', by: 'agent', reason: 'a rule' },
  });
});

const decision = (behavior: string, decision_reason: string, at = 0) =>
  got(system('permission_decided', { tool_use_id: 't1', tool_name: 'one', behavior, decision_reason }), at);

test.each(['you', 'non-interactive'] as const)(
  'what %s decided here stands; the agent only says why it asked',
  (by) => {
    const verdict = { behavior: 'deny', by, reason: 'no' } as const;
    const asked = (reason?: string) => ({ kind: 'asked' as const, id: 't1', ...(reason && { reason }) });
    const decided = { kind: 'decided' as const, id: 't1', verdict, at: 0 };
    const told = decision('deny', 'canUseTool answered: one may be destructive');
    const call = (...events: ViewEvent[]) => play(...events).view.calls.calls[0];
    expect(call(got(toolUse('t1', 'one')), asked(), decided, told)).toMatchObject({
      verdict,
      asked: { reason: 'one may be destructive' },
    });
    expect(call(got(toolUse('t1', 'one')), asked('a rule'), decided, told)).toMatchObject({
      verdict,
      asked: { reason: 'a rule' },
    });
    expect(call(asked(), decided, told, got(toolUse('t1', 'one')))).toMatchObject({ verdict });
  },
);

test("the agent's decision overrides a withdrawn question in either order", () => {
  const withdrawn = {
    kind: 'decided' as const,
    id: 't1',
    verdict: { behavior: 'deny', by: 'withdrawn' } as const,
    at: 0,
  };
  const allowed = decision('allow', 'PermissionRequest hook answered: fine');
  const verdict = { behavior: 'allow', by: 'agent', reason: 'PermissionRequest hook answered: fine' };
  for (const events of [
    [withdrawn, allowed],
    [allowed, withdrawn],
  ]) {
    expect(play(got(toolUse('t1', 'one')), ...events).view.calls.calls[0]).toMatchObject({ verdict });
  }
});

test('names the channel that answered a permission question', () => {
  const decided = (behavior: string) =>
    got(system('permission_decided', { tool_use_id: 't1', tool_name: 'one', behavior, channel: 'phone' }));
  const { pieces } = play(decided('allow'), decided('deny'), decision('allow', 'canUseTool answered: fine'));
  expect(text(pieces)).toEqual(['✓ allowed by channel phone: one', '⊘ denied by channel phone: one']);
});

test('text blocks start on new lines unless one continues a reply that was cut off', () => {
  const event = (type: string, more: Frame) => got({ ...delta(''), event: { type, ...more } });
  const start = (type: string) => event('content_block_start', { content_block: { type } });
  const stop = (stop_reason: string) => event('message_delta', { delta: { stop_reason } });
  const one = [got(messageStart('m1')), start('text'), got(delta('One'))];
  const flow = (text: string) => ({ kind: 'flow', text });
  expect(play(...one, start('tool_use'), start('text'), got(delta('Two'))).pieces).toEqual([
    { kind: 'break' },
    flow('One'),
    { kind: 'break' },
    flow('Two'),
  ]);
  expect(
    play(...one, stop('max_tokens'), got(messageStart('m2')), start('text'), got(delta('th'))).pieces,
  ).toEqual([{ kind: 'break' }, flow('One'), flow('th')]);
});

test('records progress for its call only', () => {
  const progress = (tool_use_id: string, told: unknown) =>
    got({ type: 'tool_progress', tool_use_id, tool_name: 'one', elapsed_time_seconds: 1, progress: told });
  const { view, pieces } = play(
    got(toolUse('t1', 'one')),
    progress('t1', { progress: 1, total: 4 }),
    progress('t1', undefined),
    progress('t9', { progress: 1 }),
  );
  expect(view.calls).toMatchObject({ calls: [{ id: 't1', progress: { done: 1, total: 4 } }], early: {} });
  expect(pieces).toHaveLength(1);
});

test('the duration of a call excludes the time of the decision', () => {
  const { pieces } = play(
    got(toolUse('t1', 'one'), 0),
    { kind: 'decided', id: 't1', verdict: { behavior: 'allow', by: 'you', how: 'once' }, at: 60_000 },
    got(toolResult('t1', 'ok'), 62_000),
  );
  expect(pieces.at(-1)).toEqual(resultLine(['✓ ', 'good'], ['one 2.0 s ', 'dim'], 'ok'));
});

test('the duration of a call starts at its decision', () => {
  const { pieces } = play(
    got(toolUse('t1', 'one'), 0),
    decision('allow', 'a rule', 60_000),
    got(toolResult('t1', 'ok'), 62_000),
  );
  expect(pieces.at(-1)).toEqual(resultLine(['✓ ', 'good'], ['one 2.0 s ', 'dim'], 'ok'));
});

const result = (more: Frame) =>
  got({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'text',
    num_turns: 2,
    total_cost_usd: 0.5,
    usage: {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: null,
    },
    ...more,
  });

test('shows the result only if no other text was shown or the turn failed', () => {
  expect(text(play(got(said('text')), result({})).pieces)).toEqual(['', 'text', '']);
  expect(text(play(got(said('text')), { kind: 'prompted' }, result({})).pieces)).toEqual([
    '',
    'text',
    '',
    'text',
  ]);
  const failed = got({ ...said('overloaded'), error: 'server_error' } as never);
  expect(play(failed, result({ is_error: true, result: 'overloaded' })).pieces).toEqual([
    line(['✗ overloaded', 'bad']),
  ]);
  expect(play(result({ subtype: 'error_max_turns', is_error: true, errors: [] })).pieces).toEqual([
    line(['✗ The turn reached its maximum number of model requests (--max-turns)', 'bad']),
  ]);
});

test('adds up tokens of turns; the cost is already a total', () => {
  expect(play(result({}), result({ total_cost_usd: 0.75 })).view.totals).toEqual({
    prompts: 2,
    turns: 4,
    inputTokens: 220,
    cachedTokens: 200,
    outputTokens: 10,
    usd: 0.75,
  });
});

test('reads model, tools, servers and commands from init', () => {
  const init = system('init', {
    tools: ['Read'],
    mcp_servers: [{ name: 'docs', status: 'failed' }],
    model: 'm',
    permissionMode: 'plan',
    slash_commands: ['mcp__docs__x'],
  });
  expect(play(got(init))).toMatchObject({
    pieces: [],
    view: {
      init: { model: 'm', mode: 'plan', tools: ['Read'] },
      servers: [{ name: 'docs', status: 'failed' }],
      commands: ['mcp__docs__x'],
    },
  });
});

test('reports a failed server once until its failure changes', () => {
  const learned = (status: string, error?: string) =>
    ({ kind: 'learned', servers: [{ name: 'docs', status, ...(error && { error }) }] }) as const;
  const { pieces } = play(
    learned('failed', 'MCP server "docs": it left'),
    learned('failed', 'MCP server "docs": it left'),
    learned('failed', 'it is not there'),
    learned('connected'),
    learned('needs-auth'),
  );
  expect(pieces).toEqual([
    line(['server docs: failed: it left', 'warn']),
    line(['server docs: failed: it is not there', 'warn']),
    line(['server docs: needs-auth', 'warn']),
  ]);
});

test.each([
  [
    system('api_retry', { attempt: 1, max_retries: 10, retry_delay_ms: 500 }),
    'Model request failed; retry 1 of 10 in 0.5 s',
  ],
  [
    system('api_retry', {
      attempt: 2,
      max_retries: 10,
      retry_delay_ms: 500,
      error_status: 529,
      error: 'overloaded',
    }),
    'Model request failed (529 overloaded); retry 2 of 10 in 0.5 s',
  ],
  [
    system('api_retry', {
      attempt: 2,
      max_retries: 5,
      retry_delay_ms: 4000,
      error_status: null,
      error: 'unknown',
      endpoint: 'http://127.0.0.1:8899/v1',
      reason: 'ECONNREFUSED',
    }),
    'Cannot reach http://127.0.0.1:8899/v1 (ECONNREFUSED); retry 2 of 5 in 4.0 s',
  ],
  [
    system('api_retry', {
      attempt: 3,
      max_retries: 10,
      retry_delay_ms: 0,
      error_status: 529,
      error: 'overloaded',
      endpoint: 'http://127.0.0.1:8899/v1',
      fallback_model: 'm-2',
    }),
    'http://127.0.0.1:8899/v1 returned 529 overloaded; using the fallback model m-2',
  ],
  [system('compact_boundary', { compact_metadata: {} }), 'The conversation was compacted'],
  [system('notification', { text: 'news' }), 'news'],
  [system('local_command_output', { content: 'output' }), 'output'],
])('%j is shown', (message, text) => {
  expect(play(got(message)).pieces).toMatchObject([{ spans: [[text, expect.anything()]] }]);
});

test.each([
  [system('status', { status: null })],
  [system('of_tomorrow')],
  [{ type: 'of_tomorrow' }],
  [system('informational', { content: 'detail', level: 'info' })],
  [{ type: 'user', message: { role: 'user', content: 'typed' }, parent_tool_use_id: null }],
])('%j changes nothing', (message) => {
  expect(play(got(message))).toEqual({ view: EMPTY_VIEW, pieces: [] });
});
