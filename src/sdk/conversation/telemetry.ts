import { createRequire } from 'node:module';
import type { Context, Counter, Histogram, Span, TextMapGetter } from '@opentelemetry/api';
import type { CallObserver, CallOutcome } from '../../tool-server/context.ts';
import type { Environment } from '../options/launch-flags.ts';
import type { ToolUseWatcher } from './tool-uses.ts';

/** Tracing of one query's tool calls: names, outcomes and durations, but never arguments or results. */
export type Telemetry = {
  /** Calls this process runs: a span around the handler. */
  readonly observer: CallObserver;
  /** Records a span for each tool that runs outside this process, from the model's tool use to its result. */
  readonly watcher: ToolUseWatcher;
  /** The active trace, for a process that is started now; variables already set are kept. */
  inject(env: Environment): void;
};

/** Where OpenTelemetry stores registered providers. If nothing is registered, no OpenTelemetry code is loaded. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

export function openTelemetry(version: string): Telemetry | undefined {
  if ((globalThis as Record<symbol, unknown>)[REGISTRY] === undefined) return undefined;
  const api: typeof import('@opentelemetry/api') = createRequire(import.meta.url)('@opentelemetry/api');
  const { context, metrics, propagation, SpanKind, SpanStatusCode, trace } = api;
  const tracer = trace.getTracer('toolplane', version);
  const meter = metrics.getMeter('toolplane', version);
  const calls: Counter = meter.createCounter('toolplane.tool.calls', {
    description: 'Tool calls by outcome',
  });
  const durations: Histogram = meter.createHistogram('toolplane.tool.duration', {
    unit: 'ms',
    description: 'Duration of tool calls',
  });

  const asked = new Map<string, number>();
  const endCall = (span: Span, attributes: Record<string, string>, since: number, outcome: CallOutcome) => {
    const counted = { ...attributes, 'toolplane.outcome': outcome };
    calls.add(1, counted);
    durations.record(performance.now() - since, counted);
    span.setAttribute('toolplane.outcome', outcome);
    if (outcome === 'error') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };

  return {
    observer: {
      start({ server, tool, ctx }) {
        if (ctx.toolUseId) asked.delete(ctx.toolUseId);
        const attributes = { 'gen_ai.tool.name': tool, 'toolplane.server': server };
        const parent: Context = propagation.extract(context.active(), ctx._meta, META_GETTER);
        const span = tracer.startSpan(
          `execute_tool ${tool}`,
          {
            kind: SpanKind.INTERNAL,
            attributes: { ...attributes, ...(ctx.toolUseId && { 'gen_ai.tool.call.id': ctx.toolUseId }) },
          },
          parent,
        );
        const since = performance.now();
        const inside = trace.setSpan(parent, span);
        return {
          run: (work) => context.with(inside, work),
          end: (outcome) => endCall(span, attributes, since, outcome),
        };
      },
    },
    watcher: {
      started: ({ toolUseId }) => void asked.set(toolUseId, performance.now()),
      finished({ toolUseId, name, isError }) {
        const since = asked.get(toolUseId);
        // Tools of this process are traced by the observer.
        if (since === undefined) return;
        asked.delete(toolUseId);
        const attributes = { 'gen_ai.tool.name': name };
        const span = tracer.startSpan(`execute_tool ${name}`, {
          kind: SpanKind.INTERNAL,
          startTime: performance.timeOrigin + since,
          attributes: { ...attributes, 'gen_ai.tool.call.id': toolUseId },
        });
        endCall(span, attributes, since, isError ? 'error' : 'ok');
      },
    },
    inject(env) {
      const carrier: Record<string, string> = {};
      propagation.inject(context.active(), carrier);
      if (carrier.traceparent) env.TRACEPARENT ??= carrier.traceparent;
      if (carrier.tracestate) env.TRACESTATE ??= carrier.tracestate;
    },
  };
}

const META_GETTER: TextMapGetter<Readonly<Record<string, unknown>>> = {
  keys: (meta) => Object.keys(meta),
  get: (meta, key) => (typeof meta[key] === 'string' ? meta[key] : undefined),
};
