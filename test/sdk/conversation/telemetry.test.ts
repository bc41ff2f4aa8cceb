import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type Context,
  type ContextManager,
  context,
  metrics,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTelemetry } from '../../../src/sdk/conversation/telemetry.ts';
import { createSdkMcpServer } from '../../../src/tool-server/sdk-server.ts';
import { tool } from '../../../src/tool-server/tool.ts';
import { playThrough, turn } from '../support/fake-deps.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const spans = new InMemorySpanExporter();
const counts = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
let reader: PeriodicExportingMetricReader;

/** The context follows promises, as in an application. */
class LocalContext implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT;
  with: ContextManager['with'] = (it, work, thisArg, ...args) =>
    this.#storage.run(it, () => work.apply(thisArg, args));
  bind: ContextManager['bind'] = (_, target) => target;
  enable = () => this;
  disable = () => this;
}

/** The part of W3C Trace Context that matters here. */
const traceContext: TextMapPropagator = {
  fields: () => ['traceparent'],
  inject(it, carrier, setter) {
    const span = trace.getSpanContext(it);
    if (span) setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`);
  },
  extract(it, carrier, getter) {
    const [, traceId, spanId] = String(getter.get(carrier, 'traceparent')).split('-');
    return traceId && spanId
      ? trace.setSpanContext(it, { traceId, spanId, traceFlags: 1, isRemote: true })
      : it;
  },
};

beforeEach(() => {
  context.setGlobalContextManager(new LocalContext());
  propagation.setGlobalPropagator(traceContext);
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  );
  reader = new PeriodicExportingMetricReader({ exporter: counts, exportIntervalMillis: 2 ** 30 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
});

afterEach(async () => {
  await reader.shutdown();
  for (const api of [context, propagation, trace, metrics]) api.disable();
  spans.reset();
  counts.reset();
});

const SECRET = 'a secret argument';

function calc() {
  return createSdkMcpServer({
    name: 'own',
    tools: [
      tool('good', 'G', { type: 'object' }, () => trace.getActiveSpan()?.spanContext().spanId ?? 'no span'),
      tool('bad', 'B', { type: 'object' }, () => {
        throw new Error(SECRET);
      }),
    ],
  });
}

test('a span and a metric for every call in this process, with name, server and outcome and without data (R114)', async () => {
  const inside: unknown[] = [];
  await playThrough(
    turn(async (agent) => {
      inside.push(await agent.callTool('calc', 'good', { text: SECRET }));
      await agent.callTool('calc', 'bad', { text: SECRET });
    }),
    { mcpServers: { calc: calc() } },
  );
  const finished = spans.getFinishedSpans();
  expect(
    finished.map(({ name, attributes, status, events }) => ({ name, attributes, status, events })),
  ).toEqual([
    {
      name: 'execute_tool good',
      attributes: {
        'gen_ai.tool.name': 'good',
        'toolplane.server': 'calc',
        'gen_ai.tool.call.id': 'toolu_1',
        'toolplane.outcome': 'ok',
      },
      status: { code: SpanStatusCode.UNSET },
      events: [],
    },
    {
      name: 'execute_tool bad',
      attributes: {
        'gen_ai.tool.name': 'bad',
        'toolplane.server': 'calc',
        'gen_ai.tool.call.id': 'toolu_2',
        'toolplane.outcome': 'error',
      },
      status: { code: SpanStatusCode.ERROR },
      events: [],
    },
  ]);
  expect(finished[0]?.instrumentationScope).toMatchObject({ name: 'toolplane', version: '9.9.9' });
  // The handler ran inside its span.
  expect(inside).toEqual([{ content: [{ type: 'text', text: finished[0]?.spanContext().spanId }] }]);
  await reader.forceFlush();
  const metric = counts
    .getMetrics()
    .flatMap((it) => it.scopeMetrics)
    .flatMap((it) => it.metrics);
  const points = (name: string) =>
    metric
      .filter((it) => it.descriptor.name === name)
      .flatMap((it) => it.dataPoints as { attributes: object; value: unknown }[]);
  const counted = { 'gen_ai.tool.name': 'good', 'toolplane.server': 'calc', 'toolplane.outcome': 'ok' };
  expect(points('toolplane.tool.calls').map(({ attributes, value }) => ({ attributes, value }))).toEqual([
    { attributes: counted, value: 1 },
    {
      attributes: { 'gen_ai.tool.name': 'bad', 'toolplane.server': 'calc', 'toolplane.outcome': 'error' },
      value: 1,
    },
  ]);
  expect(points('toolplane.tool.duration').map(({ attributes }) => attributes)).toContainEqual(counted);
  expect(JSON.stringify([points('toolplane.tool.calls'), finished.map((it) => it.attributes)])).not.toContain(
    SECRET,
  );
});

test('the parent is the trace context of the call', async () => {
  await playThrough(
    turn(async (agent) => {
      const params = { name: 'good', _meta: { traceparent: `00-${TRACE}-${SPAN}-01` } };
      await agent.mcp('calc', { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    }),
    { mcpServers: { calc: calc() } },
  );
  const [span] = spans.getFinishedSpans();
  expect([span?.spanContext().traceId, span?.parentSpanContext?.spanId]).toEqual([TRACE, SPAN]);
});

test('tools outside this process have a span too, tools of this process only one', async () => {
  await playThrough(
    turn(async (agent) => {
      const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: { text: SECRET } });
      const result = (id: string, is_error: boolean) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: SECRET,
        is_error,
      });
      agent.agent.emit({
        type: 'assistant',
        message: { content: [use('1', 'Bash'), use('toolu_1', 'mcp__calc__good')] },
      });
      await agent.callTool('calc', 'good');
      agent.agent.emit({ type: 'user', message: { content: [result('1', true), result('toolu_1', false)] } });
    }),
    { mcpServers: { calc: calc() } },
  );
  expect(spans.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes }))).toEqual([
    {
      name: 'execute_tool good',
      attributes: expect.objectContaining({ 'toolplane.server': 'calc', 'toolplane.outcome': 'ok' }),
    },
    {
      name: 'execute_tool Bash',
      attributes: { 'gen_ai.tool.name': 'Bash', 'gen_ai.tool.call.id': '1', 'toolplane.outcome': 'error' },
    },
  ]);
});

test('an agent is started inside the active trace, unless its environment names one', async () => {
  const tracer = trace.getTracer('test');
  const started = await tracer.startActiveSpan('outer', async (span) => {
    const { script } = await playThrough(turn());
    const own = await playThrough(turn(), { env: { TRACEPARENT: 'mine' } });
    span.end();
    return {
      expected: `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`,
      inherited: script.launch?.env.TRACEPARENT,
      own: own.script.launch?.env.TRACEPARENT,
    };
  });
  expect(started).toEqual({ expected: started.inherited, inherited: started.expected, own: 'mine' });
});

test('without a registered provider nothing is loaded', async () => {
  for (const api of [context, propagation, trace, metrics]) api.disable();
  const program = `
    const { query, createSdkMcpServer } = await import(${JSON.stringify(source('../../../src/entry/index.ts'))});
    const { scriptAgent } = await import(${JSON.stringify(source('../../../src/entry/testing.ts'))});
    const { createRequire } = await import('node:module');
    const agent = scriptAgent(async (it) => { await it.start(); await it.prompt(); it.result('done'); });
    for await (const _ of query({ prompt: 'x', options: { link: agent.link, mcpServers: { s: createSdkMcpServer({ name: 's' }) } } }));
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('opentelemetry'));
    console.log(JSON.stringify({ loaded, traced: agent.script.launch.env.TRACEPARENT ?? null }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env: {},
  });
  expect(JSON.parse(stdout)).toEqual({ loaded: [], traced: null });
});

test('with a registered provider telemetry is active', () => {
  expect(openTelemetry('1')).toBeDefined();
});

function source(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
