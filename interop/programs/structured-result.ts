import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { modelSide, transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('mcp__data__structured', {}),
  toolUse('mcp__data__linked', {}),
  toolUse('mcp__data__nothing', {}),
  text('Understood.'),
];

/** Structured content, resources and empty results keep their shape on the way to the model. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const structured = sdk.tool('structured', 'Structured', {}, async () => ({
    content: [{ type: 'text', text: 'two rows' }],
    structuredContent: { rows: [{ id: 1 }, { id: 2 }] },
    _meta: { source: 'test' },
  }));
  const linked = sdk.tool('linked', 'Links and resources', {}, async () => ({
    content: [
      { type: 'resource_link', uri: 'file:///notes.txt', name: 'notes.txt', description: 'Notes' },
      { type: 'resource', resource: { uri: 'data://doc', mimeType: 'text/plain', text: '# Doc' } },
    ],
  }));
  const nothing = sdk.tool('nothing', 'Nothing', {}, async () => ({ content: [] }));
  const data = sdk.createSdkMcpServer({ name: 'data', tools: [structured, linked, nothing] });
  const query = sdk.query({
    prompt: 'Fetch the data.',
    options: { ...options(sandbox), mcpServers: { data }, allowedTools: ['mcp__data'] },
  });
  const seen = await transcribe(query);
  return { seen, model: modelSide(sandbox) };
}
