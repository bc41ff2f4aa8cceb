import type { ModelRequest } from '../../../src/agent/models/model.ts';

/** A small request; `over` replaces some of its members. */
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

/** A tool whose input has these properties. */
export function modelTool(name: string, properties: Record<string, unknown> = {}) {
  return { name, description: `Does ${name}`, input_schema: { type: 'object', properties } };
}
