import type { z } from 'zod';
import type { Contender } from '../contenders.ts';

/** The part of both packages that the drivers use. */
export type Sdk = {
  query(params: {
    prompt: string | AsyncIterable<UserTurn>;
    options: { pathToClaudeCodeExecutable: string; mcpServers: Record<string, SdkServer> };
  }): AsyncIterable<Message>;
  createSdkMcpServer(options: { name: string; tools: readonly Tool[] }): SdkServer;
  tool(name: string, description: string, shape: Shape, handler: (args: Sum) => Promise<SumResult>): Tool;
};

export type Shape = Record<string, z.ZodType>;
export type Zod = Pick<typeof z, 'number'>;
type Message = { type: string; subtype?: string; name?: string; result?: string };
/** A user message in a stream, as both packages accept it. */
export type UserTurn = {
  type: 'user';
  message: { role: 'user'; content: string };
  parent_tool_use_id: null;
  session_id: string;
};
type Tool = { name: string };
type SdkServer = { type: 'sdk'; name: string };
type Sum = { a: number; b: number };
type SumResult = { content: { type: 'text'; text: string }[] };

/** Loads the package under test, given as JSON on a driver's command line. */
export async function loadSdk(contender: string | undefined): Promise<{ sdk: Sdk; z: Zod }> {
  const urls = JSON.parse(contender ?? '{}') as Contender;
  const sdk = (await import(urls.sdk)) as Sdk;
  const { z } = (await import(urls.zod)) as { z: Zod };
  return { sdk, z };
}

/** The tool every driver offers. */
export function addTool(sdk: Sdk, shape: Shape, name = 'add'): Tool {
  return sdk.tool(name, 'Add two numbers', shape, async ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
}
