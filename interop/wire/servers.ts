import { z } from 'zod';
import type { Options, Sdk } from './case.ts';

type SdkServer = ReturnType<Sdk['createSdkMcpServer']>;

/** The plainest useful server: one tool that adds, one that throws, one that waits for its cancellation. */
export function calc(sdk: Sdk): SdkServer {
  return sdk.createSdkMcpServer({
    name: 'calc',
    version: '1.2.3',
    instructions: 'Use add for sums.',
    tools: [
      sdk.tool(
        'add',
        'Add two numbers',
        { a: z.number(), b: z.number().describe('second') },
        async (args) => ({
          content: [{ type: 'text', text: String(args.a + args.b) }],
        }),
      ),
      sdk.tool('boom', 'Throws', {}, async () => {
        throw new Error('kaboom');
      }),
      sdk.tool('forever', 'Waits to be cancelled', {}, async (_args, extra) => {
        const { signal } = extra as { signal: AbortSignal };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return { content: [{ type: 'text', text: 'cancelled' }] };
      }),
    ],
  });
}

export function withCalc(sdk: Sdk): Options {
  return { mcpServers: { calc: calc(sdk) } };
}
