import { redactedJson, redactText } from '../../base/text/redact.ts';
import type { Server, ServerView } from '../../mcp/servers/server-status.ts';
import type { Servers } from '../../mcp/servers/servers.ts';
import { unmatchedDenyRules } from '../../permissions/match.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { ToolAnnotations } from '../../protocol/mcp.ts';
import { isMcpToolName } from '../../protocol/tool-name.ts';
import type { ServerScopes } from '../calls/call-context.ts';
import { scopeOf, sourceOf } from '../calls/resolve-call.ts';

/** One server in `mcp_status` and `system/init`. */
export type ServerStatus = {
  readonly name: string;
  readonly status: 'connected' | 'failed' | 'needs-auth' | 'pending' | 'disabled';
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly error?: string;
  readonly config?: object;
  readonly transport: string;
  readonly scope: string;
  readonly source: string;
  /** Why a configured server is not started: not approved yet, rejected, blocked by policy, turned off, or invalid. */
  readonly configured?: InactiveState;
  readonly tools?: readonly { readonly name: string; readonly annotations: object }[];
};

export type InactiveState = 'pending' | 'rejected' | 'blocked' | 'disabled' | 'broken';

/** The configured servers. */
export type ConfiguredNames = ServerScopes & {
  /** The servers that may not be started, and why. */
  inactive(): readonly {
    readonly name: string;
    readonly scope: string;
    readonly state: InactiveState;
    readonly why: string;
  }[];
};

/** The status of every server; servers that may not be started are disabled, with the reason. */
export function allServerStatus(
  servers: ReadonlyMap<string, Server>,
  configured: ConfiguredNames | undefined,
): ServerStatus[] {
  const inactive = (configured?.inactive() ?? []).filter(({ name }) => !servers.has(name));
  return [
    ...serverStatus(servers, configured),
    ...inactive.map(
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
    status: STATUS[state.kind],
    ...(state.kind === 'connected' && {
      ...(state.connection.serverInfo && { serverInfo: state.connection.serverInfo }),
      tools: state.tools.map((tool) => ({ name: tool.name, annotations: annotationsOf(tool.annotations) })),
    }),
    ...('fault' in state && { error: redactText(state.fault) }),
    ...(entry.type !== 'sdk' && { config: withoutSecrets(entry) }),
    transport: entry.type ?? 'stdio',
    scope: scopeOf(name, origin, configured),
    source: sourceOf(name, origin, configured),
  }));
}

const STATUS = {
  waiting: 'pending',
  pending: 'pending',
  connected: 'connected',
  failed: 'failed',
  'needs-auth': 'needs-auth',
  disabled: 'disabled',
} as const satisfies Record<ServerView['kind'], ServerStatus['status']>;

function annotationsOf({ readOnlyHint, destructiveHint, openWorldHint }: ToolAnnotations = {}): object {
  return {
    ...(readOnlyHint === true && { readOnly: true }),
    ...(destructiveHint === true && { destructive: true }),
    ...(openWorldHint === true && { openWorld: true }),
  };
}

/** Statuses are shown and logged: headers and variables are left out, and secrets in arguments and URLs are masked. */
function withoutSecrets(entry: object): object {
  const { headers: _, env: __, ...rest } = entry as { headers?: unknown; env?: unknown };
  return JSON.parse(redactedJson(rest)) as object;
}

/** Warnings about deny rules that match no tool of a server. There are none until all servers are connected. */
export function unmatchedRules({
  servers,
  rules,
}: {
  readonly servers: Servers;
  readonly rules: readonly Rule[];
}): string[] {
  const all = [...servers.all];
  if (all.some(([, { state }]) => state.kind !== 'connected')) return [];
  const known = all.flatMap(([server, { state }]) =>
    state.kind === 'connected' ? state.tools.map(({ name: tool }) => ({ name: '', server, tool })) : [],
  );
  const ofServers = rules.filter(({ tool }) => isMcpToolName(tool));
  return unmatchedDenyRules(ofServers, known).map(({ message }) => message);
}
