#!/usr/bin/env node
// A stand-in for the agent CLI that fails in the way that `FAILS` names.
import { createInterface } from 'node:readline';

const fails = process.env.FAILS;
const INITIALIZED = { commands: [], agents: [], models: [], account: {} };

function send(frame) {
  process.stdout.write(`${JSON.stringify(frame)}\n`);
}

function answer({ request_id, request: { subtype } }) {
  if (subtype === 'initialize') respond({ subtype: 'success', request_id, response: INITIALIZED });
  else if (fails === 'refuses') respond({ subtype: 'error', request_id, error: 'not now' });
  else if (fails === 'exits at a request') process.exit(4);
  else if (fails === 'is killed at a request') process.kill(process.pid, 'SIGKILL');
}

function respond(response) {
  send({ type: 'control_response', response });
}

function takeTurn() {
  send({ type: 'system', subtype: 'init', session_id: 's' });
  if (fails === 'exits') process.exit(3);
  if (fails === 'exits cleanly') process.exit(0);
  if (fails === 'is killed') process.kill(process.pid, 'SIGKILL');
  if (fails === 'is terminated') process.kill(process.pid, 'SIGTERM');
  if (!fails.startsWith('result')) return;
  const isError = fails === 'result is an error';
  const outcome = isError
    ? { subtype: 'error_during_execution', errors: ['broken'] }
    : { subtype: 'success', result: 'x' };
  send({ type: 'result', is_error: isError, session_id: 's', ...outcome });
  process.exitCode = 1;
  process.stdin.destroy();
}

if (fails === 'exits at start') process.exit(3);
if (fails === 'exits cleanly at start') process.exit(0);
for await (const line of createInterface({ input: process.stdin })) {
  const frame = JSON.parse(line);
  if (frame.type === 'control_request') answer(frame);
  if (frame.type === 'user') takeTurn();
}
