import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sdk, type World } from '../program.ts';

export const script = [toolUse('mcp__desk__ring', {}), text('Done.')];

/** `allowDangerouslySkipPermissions` is not needed to start in mode `bypassPermissions`. */
export async function run(sdk: Sdk, world: World): Promise<unknown> {
  const ring = sdk.tool('ring', 'Rings', {}, async () => ({ content: [{ type: 'text', text: 'rang' }] }));
  const desk = sdk.createSdkMcpServer({ name: 'desk', tools: [ring] });
  const query = sdk.query({
    prompt: 'Ring.',
    options: {
      ...options(world),
      // The CLI accepts this mode for the user root only in a sandbox.
      env: { ...world.env, IS_SANDBOX: '1' },
      mcpServers: { desk },
      permissionMode: 'bypassPermissions',
    },
  });
  return { seen: await transcribe(query) };
}
