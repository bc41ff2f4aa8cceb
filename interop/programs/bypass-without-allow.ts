import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [toolUse('mcp__desk__ring', {}), text('Done.')];

/** `allowDangerouslySkipPermissions` is not needed to start in mode `bypassPermissions`. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const ring = sdk.tool('ring', 'Rings', {}, async () => ({ content: [{ type: 'text', text: 'rang' }] }));
  const desk = sdk.createSdkMcpServer({ name: 'desk', tools: [ring] });
  const query = sdk.query({
    prompt: 'Ring.',
    options: {
      ...options(sandbox),
      // The CLI accepts this mode for the user root only in a sandbox.
      env: { ...sandbox.env, IS_SANDBOX: '1' },
      mcpServers: { desk },
      permissionMode: 'bypassPermissions',
    },
  });
  return { seen: await transcribe(query) };
}
