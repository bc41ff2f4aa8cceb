import { redactedJson, redactText } from '../../base/text/redact.ts';
import type { Server, ServerView } from '../../mcp/servers/server-status.ts';
import type { ToolAnnotations } from '../../protocol/mcp.ts';
import type { ServerScopes } from '../calls/call-context.ts';
import { scopeOf, sourceOf } from '../calls/resolve-call.ts';

/** One server as `mcp_status` and `system/init` tell of it. */
export type ServerStatus = {
  readonly name: string;
  readonly status: 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly error?: string;
  readonly config?: object;
  readonly transport: string;
  readonly scope: string;
  readonly source: string;
  /** Why it is disabled though it is configured: nobody approved it, or it was rejected, blocked, turned off or is broken. */
  readonly configured?: AsideState;
  readonly tools?: readonly { readonly name: string; readonly annotations: object }[];
};

/** What keeps a configured server from being started. */
export type AsideState = 'pending' | 'rejected' | 'blocked' | 'disabled' | 'broken';

/** What is known of where servers were configured. */
export type ConfiguredNames = ServerScopes & {
  /** Those that are configured and may not be started, and why. */
  aside(): readonly {
    readonly name: string;
    readonly scope: string;
    readonly state: AsideState;
    readonly why: string;
  }[];
};

/** Every server; those that may not be started as disabled, with the reason. */
export function allServerStatus(
  servers: ReadonlyMap<string, Server>,
  configured: ConfiguredNames | undefined,
): ServerStatus[] {
  const aside = (configured?.aside() ?? []).filter(({ name }) => !servers.has(name));
  return [
    ...serverStatus(servers, configured),
    ...aside.map(
      ({ name, scope, state, why }): ServerStatus => ({
        name,
        status: 'disabled',
        error: why,
        transport: 'none',
        scope,
        source: scope,
        configured: state,
      }),
    ),
  ];
}

export function serverStatus(
  servers: ReadonlyMap<string, Server>,
  configured?: ServerScopes,
): ServerStatus[] {
  return [...servers].map(([name, { state, entry, origin }]) => ({
    name,
    status: WORDS[state.kind],
    ...(state.kind === 'connected' && {
      ...(state.connection.serverInfo && { serverInfo: state.connection.serverInfo }),
      tools: state.tools.map((tool) => ({ name: tool.name, annotations: marks(tool.annotations) })),
    }),
    ...('fault' in state && { error: redactText(state.fault) }),
    ...(entry.type !== 'sdk' && { config: withoutSecrets(entry) }),
    transport: entry.type ?? 'stdio',
    scope: scopeOf(name, origin, configured),
    source: sourceOf(name, origin, configured),
  }));
}

const WORDS = {
  waiting: 'pending',
  pending: 'pending',
  connected: 'connected',
  failed: 'failed',
  'needs-auth': 'needs-auth',
  disabled: 'disabled',
} as const satisfies Record<ServerView['kind'], ServerStatus['status']>;

/** Only what is claimed is told. */
function marks({ readOnlyHint, destructiveHint, openWorldHint }: ToolAnnotations = {}): object {
  return {
    ...(readOnlyHint === true && { readOnly: true }),
    ...(destructiveHint === true && { destructive: true }),
    ...(openWorldHint === true && { openWorld: true }),
  };
}

/** Headers and variables may hold keys, arguments and addresses too; a status is shown, logged and pasted. */
function withoutSecrets(entry: object): object {
  const { headers: _, env: __, ...rest } = entry as { headers?: unknown; env?: unknown };
  return JSON.parse(redactedJson(rest)) as object;
}
