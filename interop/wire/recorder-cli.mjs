#!/usr/bin/env node
// A stand-in for the agent CLI: it writes down everything its parent sends and plays a fixed scenario back.
//
// TOOLPLANE_WIRE_LOG       the file that gets one JSON object per event: start, in, out, end.
// TOOLPLANE_WIRE_SCENARIO  JSON of the `Scenario` in scenario.ts; absent means a plain one-answer session.
import { appendFileSync, writeSync } from 'node:fs';

const logFile = process.env.TOOLPLANE_WIRE_LOG;
const scenario = JSON.parse(process.env.TOOLPLANE_WIRE_SCENARIO ?? '{}');
const SESSION = '00000000-0000-4000-8000-000000000001';
const waiting = new Map();
const answered = new Set();
const seenSubtypes = new Map();
let userLines = 0;
let turns = Promise.resolve();

const REPLIES = {
  initialize: {
    commands: [],
    agents: [],
    output_style: 'default',
    available_output_styles: [],
    models: [],
    account: {},
  },
  interrupt: { still_queued: [] },
  set_mcp_permission_mode_override: { warning: 'no such server' },
  mcp_status: { mcpServers: [{ name: 'calc', status: 'connected' }] },
  mcp_set_servers: { added: ['late'], removed: [], errors: {} },
  mcp_read_resource: { contents: [{ uri: 'ui://calc/view', text: '<p>hi</p>' }] },
  get_context_usage: { categories: [], totalTokens: 1 },
  get_usage: { session: { total_cost_usd: 0 }, rate_limits_available: false, rate_limits: null },
  read_file: { contents: 'text', absPath: '/elsewhere/a.txt' },
  reload_plugins: { commands: [], agents: [], plugins: [], mcpServers: [], error_count: 0 },
  reload_skills: { skills: [] },
  reload_output_styles: { available_output_styles: ['default'] },
  rewind_files: { canRewind: true, filesChanged: [] },
  background_tasks: { backgrounded: true },
};

function log(event) {
  if (logFile) appendFileSync(logFile, `${JSON.stringify(event)}\n`);
}

function send(frame, cause) {
  log({ kind: 'out', frame, cause });
  process.stdout.write(`${JSON.stringify(frame)}\n`);
}

function hears(key) {
  if (answered.has(key)) return Promise.resolve();
  return new Promise((resolve) => {
    waiting.set(key, [...(waiting.get(key) ?? []), resolve]);
  });
}

function heard(key) {
  answered.add(key);
  for (const resolve of waiting.get(key) ?? []) resolve();
  waiting.delete(key);
}

async function play(steps = []) {
  for (const step of steps) {
    if (step.until) await hears(step.until);
    if (step.stderr) writeSync(2, step.stderr);
    if (step.raw) process.stdout.write(`${step.raw}\n`);
    if (step.frame) send(step.frame);
    if (step.exit !== undefined) process.exit(step.exit);
    if (step.frame?.type === 'control_request' && !step.unawaited)
      await hears(`reply:${step.frame.request_id}`);
  }
}

async function answer(id, request) {
  const { subtype } = request;
  const count = (seenSubtypes.get(subtype) ?? 0) + 1;
  seenSubtypes.set(subtype, count);
  if (count === 1) await play(scenario.beforeReply?.[subtype]);
  const reply = scenario.replies?.[subtype] ?? { response: REPLIES[subtype] };
  if (reply === 'silent') return;
  const kind = reply.error === undefined ? 'success' : 'error';
  send({ type: 'control_response', response: { subtype: kind, request_id: id, ...reply } }, subtype);
  heard(`request:${subtype}`);
}

async function takeTurn() {
  userLines += 1;
  const init = {
    type: 'system',
    subtype: 'init',
    session_id: SESSION,
    tools: [],
    mcp_servers: [],
    model: 'm',
  };
  send({ ...init, cwd: process.cwd(), permissionMode: 'default', apiKeySource: 'none', slash_commands: [] });
  if (userLines === 1) await play(scenario.beforeResult);
  const message = { role: 'assistant', content: [{ type: 'text', text: `answer ${userLines}` }] };
  send({ type: 'assistant', message, parent_tool_use_id: null, session_id: SESSION });
  send({
    type: 'result',
    subtype: 'success',
    is_error: false,
    duration_ms: 1,
    duration_api_ms: 1,
    num_turns: 1,
    result: `answer ${userLines}`,
    session_id: SESSION,
    total_cost_usd: 0,
    usage: { input_tokens: 1, output_tokens: 1 },
    permission_denials: [],
  });
  if (userLines === 1) await play(scenario.afterResult);
}

log({
  kind: 'start',
  argv: process.argv.slice(2),
  execArgv: process.execArgv,
  cwd: process.cwd(),
  env: { ...process.env },
});

function take(line) {
  log({ kind: 'in', line });
  const frame = JSON.parse(line);
  if (frame.type === 'control_request') void answer(frame.request_id, frame.request);
  if (frame.type === 'control_response') heard(`reply:${frame.response.request_id}`);
  if (frame.type === 'user') {
    heard('user');
    turns = turns.then(takeTurn);
  }
}

// Not node:readline, which also ends a line at U+2028, a character JSON text may hold as it is.
let rest = '';
process.stdin
  .setEncoding('utf8')
  .on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  })
  .on('end', () => {
    log({ kind: 'end' });
    process.exit(scenario.exitCode ?? 0);
  });
