/** The protocol revisions that tool servers support, newest first. */
export const MCP_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

/** The stateless revision, which tool servers support over HTTP. */
export const STATELESS_VERSION = '2026-07-28';

/** C8: the client's revision if it is supported, else the newest supported one. */
export function negotiateVersion(requested: unknown): string {
  return (MCP_VERSIONS as readonly unknown[]).includes(requested) ? (requested as string) : MCP_VERSIONS[0];
}

/** `_meta` of a message. */
export type MessageMeta = {
  progressToken?: string | number;
  'io.modelcontextprotocol/related-task'?: { taskId: string };
  [more: string]: unknown;
};

export type ContentAnnotations = {
  audience?: ('user' | 'assistant')[];
  priority?: number;
  lastModified?: string;
};
type BlockBase = { annotations?: ContentAnnotations; _meta?: Record<string, unknown> };

export type TextBlock = BlockBase & { type: 'text'; text: string };
export type ImageBlock = BlockBase & { type: 'image'; data: string; mimeType: string };
export type AudioBlock = BlockBase & { type: 'audio'; data: string; mimeType: string };
export type ResourceContents =
  | { uri: string; mimeType?: string; text: string; _meta?: Record<string, unknown> }
  | { uri: string; mimeType?: string; blob: string; _meta?: Record<string, unknown> };
export type EmbeddedResource = BlockBase & { type: 'resource'; resource: ResourceContents };
export type ResourceLink = BlockBase & {
  type: 'resource_link';
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
};
/** One content block of a tool result. */
export type ContentBlock = TextBlock | ImageBlock | AudioBlock | EmbeddedResource | ResourceLink;

/** The result of `tools/call`. A tool that failed returns a result with `isError`. */
export type CallToolResult = {
  content: ContentBlock[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
};

/** Hints that a server declares for a tool. They are not verified. */
export type ToolAnnotations = {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
};

/** An icon of a tool or server. */
export type Icon = { src: string; mimeType?: string; sizes?: string[]; theme?: 'light' | 'dark' };

/** A JSON Schema whose root describes an object. */
export type JsonSchema = { readonly [key: string]: unknown };

/** One entry of `tools/list`. */
export type ListedTool = {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  icons?: Icon[];
  execution?: { taskSupport?: 'forbidden' | 'optional' | 'required' };
  _meta?: Record<string, unknown>;
};

/** The severity of a log message, as MCP defines it. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';
export const LOG_LEVELS: readonly LogLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** The names of the channel extension, by which servers push messages and answer permission requests. */
export const CHANNEL = {
  /** The experimental capability of a server that pushes messages. */
  capability: 'claude/channel',
  /** The experimental capability of a server that can answer permission requests. */
  permissionCapability: 'claude/channel/permission',
  message: 'notifications/claude/channel',
  permissionRequest: 'notifications/claude/channel/permission_request',
  permission: 'notifications/claude/channel/permission',
  /** Toolplane's additions: whether a message is stored, and that a permission request needs no answer any more. */
  ack: 'notifications/toolplane/channel/ack',
  nack: 'notifications/toolplane/channel/nack',
  permissionSettled: 'notifications/toolplane/channel/permission_settled',
} as const;

/** A permission request as a channel receives it. */
export type ChannelPermissionRequest = {
  /** Five letters, a to z without l. */
  request_id: string;
  tool_name: string;
  description: string;
  /** The beginning of the input, with secrets masked. */
  input_preview: string;
};
