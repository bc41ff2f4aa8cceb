import type { ListedTool, ResourceContents } from '../protocol/mcp.ts';
import type { ToolContext } from './context.ts';
import type { CompiledTool } from './tool.ts';

/** What a session reads of the server it belongs to. */
export type Offering = {
  readonly name: string;
  readonly options: {
    readonly strictProtocolErrors?: boolean;
    readonly emptyStubs?: boolean;
    readonly logging?: boolean;
  };
  readonly resources: ReadonlyMap<string, ResourceDefinition>;
  readonly prompts: ReadonlyMap<string, PromptDefinition>;
  find(name: string): CompiledTool | undefined;
  toolsList(): { tools: ListedTool[] };
  initializeResult(protocolVersion: string): Record<string, unknown>;
};

/** A resource that a server offers. `read` returns text, bytes, or complete MCP contents. */
export type ResourceDefinition = {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  read(ctx: ToolContext): ResourceReading | Promise<ResourceReading>;
};

export type ResourceReading = string | Uint8Array | ResourceContents[];

export type PromptMessage = {
  role: 'user' | 'assistant';
  content: { type: string; [member: string]: unknown };
};

/** A prompt that a server offers. A string becomes one user message. */
export type PromptDefinition = {
  name: string;
  title?: string;
  description?: string;
  arguments?: { name: string; description?: string; required?: boolean }[];
  get(args: Record<string, string>, ctx: ToolContext): PromptReading | Promise<PromptReading>;
};

export type PromptReading = string | PromptMessage[];

export function listResource({ read: _, ...listed }: ResourceDefinition): Record<string, unknown> {
  return listed;
}

export function listPrompt({ get: _, ...listed }: PromptDefinition): Record<string, unknown> {
  return listed;
}

export function resourceContents(resource: ResourceDefinition, reading: ResourceReading): ResourceContents[] {
  const base = { uri: resource.uri, ...(resource.mimeType && { mimeType: resource.mimeType }) };
  if (typeof reading === 'string') return [{ ...base, text: reading }];
  if (reading instanceof Uint8Array) return [{ ...base, blob: Buffer.from(reading).toString('base64') }];
  return reading;
}

export function promptMessages(reading: PromptReading): PromptMessage[] {
  return typeof reading === 'string' ? [{ role: 'user', content: { type: 'text', text: reading } }] : reading;
}
