// Spans and metrics for every tool call, with the application's OpenTelemetry setup.
import assert from 'node:assert/strict';
// #region set-up
import { metrics, trace } from '@opentelemetry/api';
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
import { createSdkMcpServer, query, tool } from 'toolplane';
import { scriptAgent } from 'toolplane/testing';

const spans = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
const counters = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: counters });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
// #endregion

const oven = createSdkMcpServer({
  name: 'oven',
  tools: [
    tool('reading', 'The thermometer', {}, () => 212),
    tool('open', 'Opens the door', {}, () => new Error('the door is stuck')),
  ],
});

const { link, played } = scriptAgent(async (agent) => {
  await agent.start();
  await agent.prompt();
  await agent.callTool('oven', 'reading');
  await agent.callTool('oven', 'open');
  agent.result('done');
});
for await (const _ of query({ prompt: 'Look.', options: { link, mcpServers: { oven } } }));
await played;

// #region read
for (const { name, attributes } of spans.getFinishedSpans()) console.log(name, attributes);
await reader.forceFlush();
for (const { descriptor, dataPoints } of counters.getMetrics()[0]?.scopeMetrics[0]?.metrics ?? []) {
  console.log(
    descriptor.name,
    dataPoints.map((point) => point.attributes['toolplane.outcome']),
  );
}
// #endregion

assert.deepEqual(
  spans.getFinishedSpans().map((span) => span.attributes['toolplane.outcome']),
  ['ok', 'error'],
);
await reader.shutdown();
