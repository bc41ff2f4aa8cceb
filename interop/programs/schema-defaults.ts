import { z } from 'zod';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { offeredTools } from '../../test/support/model-api/model-view.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__geo__weather', { city: ' Oslo ' }),
  toolUse('mcp__geo__weather', { city: 'Rome', unit: 'F', days: 3, tags: ['x'] }),
  text('Cold.'),
];

/** The handler gets the schema's output: defaults filled in, transforms applied. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const calls: unknown[] = [];
  const shape = {
    city: z.string().trim().describe('Where'),
    unit: z.enum(['C', 'F']).default('C'),
    days: z.number().int().optional(),
    tags: z.array(z.string()).default([]),
  };
  const weather = sdk.tool('weather', 'The weather', shape, async (args) => {
    calls.push(args);
    return { content: [{ type: 'text', text: `${args.city} in ${args.unit}` }] };
  });
  const geo = sdk.createSdkMcpServer({ name: 'geo', tools: [weather] });
  const query = sdk.query({
    prompt: 'Weather in Oslo?',
    options: { ...options(sandbox), mcpServers: { geo }, allowedTools: ['mcp__geo'] },
  });
  const seen = await transcribe(query);
  return { calls, seen, model: modelSide(sandbox), offered: offeredTools(sandbox.api.requests[0]) };
}
