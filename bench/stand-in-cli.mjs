#!/usr/bin/env node
// A stand-in for the agent CLI that costs next to nothing: it makes requests by stamping digits into a ready-made
// line and counts replies by their newlines.
//
// The prompt is JSON `{ "steps": [...] }`, see drivers/steps.ts; the result's text is JSON
// `{ "handshake": { servers, manifests, roundTrips }, "measured": { [step name]: … } }`.

const SESSION = '00000000-0000-4000-8000-000000000001';
const NEWLINE = 10;
/** Stands in the template wherever the number of the call goes: as many digits as numbers from `FIRST` have. */
const DIGITS = '#########';
const FIRST = 100_000_000;
const ADDED = 40;

const TEMPLATE = Buffer.from(
  `{"type":"control_request","request_id":"00000000-0000-4000-8000-000${DIGITS}","request":{"subtype":"mcp_message","server_name":"calc","message":{"method":"tools/call","params":{"name":"add","arguments":{"a":${DIGITS},"b":${ADDED}},"_meta":{"claudecode/toolUseId":"toolu_${DIGITS}","progressToken":${DIGITS}}},"jsonrpc":"2.0","id":${DIGITS}}}}\n`,
);
const STAMPS = [];
for (let at = TEMPLATE.indexOf(DIGITS); at !== -1; at = TEMPLATE.indexOf(DIGITS, at + 1)) STAMPS.push(at);

const handshake = { servers: 0, manifests: 0, roundTrips: 0 };
const measured = {};
let calls = 0;
let onChunk = collect;

const STEPS = {
  /** Calls one after the other, each reply read as JSON and checked against its request. */
  async verify({ calls: count }) {
    for (let done = 0; done < count; done++) {
      const number = FIRST + calls;
      process.stdout.write(nextRequests(1));
      checkReply(await nextLine(), number);
    }
  },
  /** Calls one after the other; measures the median round trip in microseconds. */
  async sequential({ calls: count, name }) {
    const times = new Float64Array(count);
    let done = 0;
    let since = 0;
    const call = () => {
      const request = nextRequests(1);
      since = performance.now();
      process.stdout.write(request);
    };
    await countReplies(call, () => {
      times[done++] = performance.now() - since;
      if (done < count) call();
      return done === count;
    });
    times.sort();
    measured[name] = times[count >> 1] * 1_000;
  },
  /** Keeps `inFlight` calls open until `calls` are done; measures calls a second. */
  async parallel({ calls: count, inFlight, name }) {
    const since = performance.now();
    let sent = 0;
    let done = 0;
    const call = (more) => {
      const now = Math.min(more, count - sent);
      if (now > 0) process.stdout.write(nextRequests(now));
      sent += now;
    };
    await countReplies(
      () => call(inFlight),
      (replies) => {
        done += replies;
        call(replies);
        return done === count;
      },
    );
    measured[name] = count / ((performance.now() - since) / 1_000);
  },
  /** A message to the driver, which takes its own measurements meanwhile. */
  async mark({ name }) {
    send({ type: 'system', subtype: 'bench_mark', name, session_id: SESSION });
    await new Promise((resolve) => setTimeout(resolve, 50));
  },
};

function nextRequests(count) {
  const requests = Buffer.allocUnsafe(count * TEMPLATE.length);
  for (let from = 0; from < requests.length; from += TEMPLATE.length, calls++) {
    TEMPLATE.copy(requests, from);
    for (const at of STAMPS) stampDigits(requests, from + at, FIRST + calls);
  }
  return requests;
}

function stampDigits(buffer, at, number) {
  let left = number;
  for (let place = at + DIGITS.length - 1; place >= at; place--) {
    const next = Math.floor(left / 10);
    buffer[place] = 48 + left - next * 10;
    left = next;
  }
}

/** Begins, then tells how many replies each chunk ended, until `onReplies` says that it was the last. */
function countReplies(begin, onReplies) {
  return new Promise((resolve) => {
    onChunk = (chunk) => {
      let count = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count++;
      if (count === 0 || !onReplies(count)) return;
      onChunk = collect;
      resolve();
    };
    begin();
  });
}

function checkReply(line, number) {
  const { response } = JSON.parse(line);
  const reply = response.response.mcp_response;
  const isRight =
    response.request_id === `00000000-0000-4000-8000-000${number}` &&
    reply.id === number &&
    reply.result.content[0].text === String(number + ADDED);
  if (!isRight) throw new Error(`call ${number} got the reply ${line}`);
}

const pieces = [];
const lines = [];
let wake = () => {};

function collect(chunk) {
  let from = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
    lines.push(Buffer.concat([...pieces.splice(0), chunk.subarray(from, at)]).toString());
    from = at + 1;
  }
  if (from < chunk.length) pieces.push(chunk.subarray(from));
  wake();
}

async function nextLine() {
  while (lines.length === 0) {
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
  return lines.shift();
}

function send(frame) {
  process.stdout.write(`${JSON.stringify(frame)}\n`);
}

/** Servers that came without a manifest are asked, as an agent would have to. */
async function shakeHands({ sdkMcpServers = [], sdkMcpServerManifests = {} }) {
  handshake.servers = sdkMcpServers.length;
  for (const server of sdkMcpServers) {
    const manifest = sdkMcpServerManifests[server];
    if (manifest?.initializeResult && manifest.toolsListResult) handshake.manifests++;
    else for (const message of HANDSHAKE) await askServer(server, message);
  }
}

const CLIENT = { name: 'stand-in', version: '1.0.0' };
const HANDSHAKE = [
  {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 1, method: 'tools/list' },
];

/** What came while a server was being asked. */
const early = [];

async function askServer(server, message) {
  const id = `handshake-${handshake.roundTrips++}`;
  const request = { subtype: 'mcp_message', server_name: server, message };
  send({ type: 'control_request', request_id: id, request });
  for (;;) {
    const frame = JSON.parse(await nextLine());
    if (frame.type === 'control_response' && frame.response.request_id === id) return;
    early.push(frame);
  }
}

async function answerInitialize({ request_id, request }) {
  await shakeHands(request);
  const response = {
    commands: [],
    agents: [],
    output_style: 'default',
    available_output_styles: [],
    models: [],
    account: {},
  };
  send({ type: 'control_response', response: { subtype: 'success', request_id, response } });
}

async function takeTurn({ message }) {
  const { content } = message;
  const { steps } = JSON.parse(typeof content === 'string' ? content : content[0].text);
  send({
    type: 'system',
    subtype: 'init',
    session_id: SESSION,
    tools: [],
    mcp_servers: [],
    model: 'm',
    cwd: process.cwd(),
    permissionMode: 'default',
    apiKeySource: 'none',
    slash_commands: [],
  });
  for (const step of steps) await STEPS[step.kind](step);
  send({
    type: 'result',
    subtype: 'success',
    is_error: false,
    duration_ms: 1,
    duration_api_ms: 1,
    num_turns: 1,
    result: JSON.stringify({ handshake, measured }),
    session_id: SESSION,
    total_cost_usd: 0,
    usage: { input_tokens: 1, output_tokens: 1 },
    permission_denials: [],
  });
}

process.stdin.on('data', (chunk) => onChunk(chunk)).on('end', () => process.exit(0));

for (;;) {
  const frame = early.shift() ?? JSON.parse(await nextLine());
  if (frame.type === 'control_request') await answerInitialize(frame);
  if (frame.type === 'user') await takeTurn(frame);
}
