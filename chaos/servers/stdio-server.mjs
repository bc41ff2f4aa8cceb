// A small MCP server over stdio, without an SDK, whose behaviour can be changed.
import { appendFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Maximum lifetime of a server, in case its client leaves it running. */
const LIFE_MS = 60_000;

export class StdioServer {
  /** Request handlers by method; they return the result, or undefined for no response. */
  methods = new Map([
    ['initialize', (params) => this.initialized(params)],
    ['ping', () => ({})],
    ['tools/list', () => ({ tools: this.definitions() })],
    ['tools/call', (params, message) => this.call(params, message)],
  ]);
  /** Tools by name: `{ run(args, message), ...what is listed of it }`. */
  tools = new Map([['echo', { run: (args) => text(args.text) }]]);
  /** Sees every message first; true means that it is handled. */
  intercept = () => false;
  /** Writes the output. */
  write = (bytes) => writeAll(bytes);
  /** Whether the server exits at the end of stdin. */
  endsWithStdin = true;
  protocolVersion = '2025-11-25';

  start() {
    this.note('started');
    setTimeout(() => process.exit(99), LIFE_MS).unref();
    let rest = '';
    process.stdin.setEncoding('utf8');
    process.stdin.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      for (const line of lines) this.receive(JSON.parse(line));
    });
    process.stdin.on('end', () => this.endsWithStdin && process.exit(0));
    process.stdin.on('error', () => {});
  }

  receive(message) {
    if (message.method) this.note(message.method, { id: message.id, params: brief(message.params) });
    if (this.intercept(message)) return;
    if (message.id === undefined || message.method === undefined) return;
    const handle = this.methods.get(message.method);
    if (!handle) return this.refuse(message.id, -32601, `no method ${message.method}`);
    const result = handle(message.params ?? {}, message);
    if (result !== undefined) this.answer(message.id, result);
  }

  initialized(params) {
    return {
      protocolVersion: this.protocolVersion ?? params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'chaos', version: '1.0.0' },
    };
  }

  definitions() {
    return [...this.tools].map(([name, { run: _, ...rest }]) => ({ name, ...SCHEMA, ...rest }));
  }

  call({ name, arguments: args = {} }, message) {
    const tool = this.tools.get(name);
    return tool ? tool.run(args, message) : { ...text(`no tool ${name}`), isError: true };
  }

  answer(id, result) {
    this.send({ jsonrpc: '2.0', id, result });
  }

  refuse(id, code, message) {
    this.send({ jsonrpc: '2.0', id, error: { code, message } });
  }

  notify(method, params) {
    this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  send(message) {
    this.write(`${JSON.stringify(message)}\n`);
  }

  /** Records an event for the checks. */
  note(event, data) {
    note(event, data);
  }
}

const SCHEMA = { inputSchema: { type: 'object' } };

export function text(value) {
  return { content: [{ type: 'text', text: String(value) }] };
}

export function note(event, data) {
  const line = `${JSON.stringify({ event, pid: process.pid, data })}\n`;
  appendFileSync(join(process.env.CHAOS_DIRECTORY, 'events'), line);
}

/** Writes everything synchronously, however slowly it is read. False if the pipe is closed. */
export function writeAll(bytes, fd = 1) {
  let rest = Buffer.from(bytes);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (fault) {
      if (fault.code !== 'EAGAIN') return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
  return true;
}

/** Keeps the recorded part of a request small. */
function brief(params) {
  const line = JSON.stringify(params) ?? 'null';
  return line.length > 2_000 ? '…' : JSON.parse(line);
}
