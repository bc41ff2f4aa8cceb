import type { z } from 'zod';
import type { Contender } from '../contenders.ts';

export type Message = { type: string; subtype?: string; status?: string | null; result?: string };
type Query = AsyncIterable<Message>;
type Server = { type: 'sdk'; name: string };
type Tool = { name: string };

/** The part of both packages that the agent drivers use. */
export type AgentSdk = {
  query(params: { prompt: string; options: object }): Query;
  startup(params: { options: object }): Promise<{ query(prompt: string): Query }>;
  createSdkMcpServer(options: { name: string; tools: readonly Tool[] }): Server;
  tool(
    name: string,
    description: string,
    shape: Record<string, z.ZodType>,
    handler: (args: { a: number; b: number }) => Promise<{ content: { type: 'text'; text: string }[] }>,
  ): Tool;
  /** Only in our package. */
  AgentClient: { open(options: object): Promise<AgentClient> };
};

export type AgentClient = { ask(prompt: string): Promise<Message>; close(): Promise<void> };

/** Loads the package under test, given as JSON on a driver's command line. */
export async function loadAgentSdk(contender: string | undefined): Promise<AgentSdk> {
  const { sdk } = JSON.parse(contender ?? '{}') as Contender;
  return (await import(sdk)) as AgentSdk;
}

/** A server with `count` tools that add two numbers. */
export async function adders(sdk: AgentSdk, contender: string | undefined, count: number): Promise<Server> {
  const { zod } = JSON.parse(contender ?? '{}') as Contender;
  const { z: schema } = (await import(zod)) as { z: typeof z };
  const shape = { a: schema.number(), b: schema.number() };
  const tools = Array.from({ length: count }, (_, index) =>
    sdk.tool(`add_${index}`, 'Add two numbers', shape, async ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    })),
  );
  return sdk.createSdkMcpServer({ name: 'calc', tools });
}
