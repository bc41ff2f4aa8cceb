import type { ModelRequest } from '../../../src/agent/models/model.ts';

/** A small request, with what a test cares about in place of the defaults. */
export function modelRequest(over: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'm-1',
    system: 'Be brief.',
    tools: [],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    maxTokens: 4096,
    signal: new AbortController().signal,
    ...over,
  };
}

/** A tool that takes whatever its properties say. */
export function modelTool(name: string, properties: Record<string, unknown> = {}) {
  return { name, description: `Does ${name}`, input_schema: { type: 'object', properties } };
}
