import { sliceText } from '../../base/text/display-text.ts';
import { waitForConnection } from '../../mcp/calls/retrying-request.ts';
import { isTrustedEntry } from '../../mcp/connection/connect-context.ts';
import { HostError } from '../../mcp/errors/host-error.ts';
import type { CallTarget } from '../../mcp/servers/call-target.ts';
import type { Server, ServerOrigin } from '../../mcp/servers/server-status.ts';
import { removingRule } from '../../permissions/match.ts';
import { policyRules } from '../../permissions/rule.ts';
import { definitionOf } from '../../pool/pinning/definition.ts';
import { findToolChange } from '../../pool/pinning/tool-change.ts';
import type { PooledTool } from '../../pool/pool.ts';
import { mcpToolName, normalizeName } from '../../protocol/tool-name.ts';
import { realInput, ruleLinks } from '../builtins/files/real-path.ts';
import { certainEffect } from '../builtins/shell/certain-effect.ts';
import type { CallContext, ServerScopes, SessionContext } from './call-context.ts';
import { decideCall } from './decide-call.ts';
import type { PoolCall } from './pool-call.ts';

export type ResolvedCall =
  | { readonly kind: 'resolved'; readonly call: PoolCall }
  /** The input names a path that must not be used. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server is gone or cannot be reached, or no longer has the tool. */
  | { readonly kind: 'failed'; readonly failure: unknown };

/** The refusal of a call or permission prompt whose server has been replaced. */
export const SERVER_REPLACED = 'the server was replaced after permission for this call was decided';

/** How long a server may take to list its resources before the permission prompt is shown without the list. */
const LIST_TIMEOUT_MS = 10_000;
const MAX_SHOWN_URI_LENGTH = 500;

/**
 * Looks up what a decision depends on: for a server's tool its definition as the live server lists it now, for a built-in
 * tool the real path of a file or the listed resources of a server. Waits for the server to connect, unless a rule
 * denies the call whatever the server lists. A call that is bound to a server already keeps that server and definition,
 * since a person may have been shown them.
 */
export async function resolveCall(
  call: PoolCall,
  context: CallContext,
  signal: AbortSignal,
): Promise<ResolvedCall> {
  const { server: key, boundServer } = call;
  if (key === undefined) return resolveBuiltIn(call, context, signal);
  if (boundServer) return { kind: 'resolved', call };
  const { session, agent } = context;
  const { definition, tool = '' } = call;
  const server = agent.servers().get(key);
  const target = agent.target(key);
  if (!server || !target) return { kind: 'failed', failure: removedServer(key) };
  if (!target.live()) {
    if (isDeniedByRule(call, context)) return { kind: 'resolved', call };
    try {
      await waitForConnection(target, signal);
    } catch (failure) {
      // An interrupted call is answered as interrupted, and nothing is sent.
      return signal.aborted ? { kind: 'resolved', call } : { kind: 'failed', failure };
    }
  }
  const listed = target.tool(tool);
  if (!listed) {
    const detail = `${notListed(tool)}; nothing was sent`;
    return { kind: 'failed', failure: new HostError('unknown-tool', key, detail, { hasRun: 'no' }) };
  }
  const current = listed === definition.listed ? definition : { ...definition, listed };
  const trust = trustOf(definition, server, session);
  return { kind: 'resolved', call: { ...call, ...trust, definition: current, boundServer: server } };
}

/**
 * Whether a rule denies the call. A denial by mode is ignored here: the mode may allow the call once the server has
 * sent its annotations.
 */
function isDeniedByRule(call: PoolCall, context: CallContext): boolean {
  const { kind, reason } = decideCall(call, context).decision;
  return kind === 'deny' && reason.rule !== undefined;
}

async function resolveBuiltIn(
  call: PoolCall,
  context: CallContext,
  signal: AbortSignal,
): Promise<ResolvedCall> {
  const { builtIn } = call;
  const { session } = context;
  if (builtIn?.uriMember !== undefined) return resolveResource(call, builtIn.uriMember, context, signal);
  if (builtIn?.commandMember !== undefined) return resolveCommand(call, builtIn.commandMember, session);
  if (builtIn?.pathMember === undefined) return { kind: 'resolved', call: withDoubt(call, session) };
  const [real, links] = await Promise.all([
    realInput(builtIn, call.input, session.workspace()),
    ruleLinks(session.rules.current().rules, session.workspace()),
  ]);
  if (real.kind === 'unresolved') return { kind: 'refused', reason: real.fault };
  const isUnchanged = real.input === call.input;
  const { originalInput = call.input } = call;
  const resolved = { ...call, links, ...(!isUnchanged && { input: real.input, originalInput }) };
  return { kind: 'resolved', call: resolved };
}

/** Rules for paths restrict commands too, also where a path of a rule leads through a link. */
async function resolveCommand(
  { effect: _, ...call }: PoolCall,
  commandMember: string,
  session: SessionContext,
): Promise<ResolvedCall> {
  const { [commandMember]: command } = call.input;
  const workspace = session.workspace();
  const [effect, links] = await Promise.all([
    typeof command === 'string' ? certainEffect(command, workspace, session.env) : undefined,
    ruleLinks(session.rules.current().rules, workspace),
  ]);
  return { kind: 'resolved', call: { ...call, links, ...(effect && { effect }) } };
}

function withDoubt(call: PoolCall, { services }: SessionContext): PoolCall {
  const { doubt: _, ...asked } = call;
  const doubt = call.builtIn?.doubt?.(call.input, services);
  return doubt === undefined ? asked : { ...asked, doubt };
}

/** A server that is unknown or not readable is left to the resource reader, which refuses it by name. */
async function resolveResource(
  call: PoolCall,
  uriMember: string,
  context: CallContext,
  signal: AbortSignal,
): Promise<ResolvedCall> {
  const { server: key, [uriMember]: uri } = call.input;
  if (typeof key !== 'string' || typeof uri !== 'string') return { kind: 'resolved', call };
  const server = call.boundServer ?? context.agent.servers().get(key);
  if (!server || !readableServers(context).includes(key)) return { kind: 'resolved', call };
  const { doubt: _, ...asked } = call;
  const isListed = isTrustedEntry(server.entry) || (await listsResource(key, uri, context, signal));
  const doubt = `${sliceText(uri, MAX_SHOWN_URI_LENGTH)} is not listed by server "${key}", which is not trusted`;
  return { kind: 'resolved', call: { ...asked, boundServer: server, ...(!isListed && { doubt }) } };
}

/** A URI is an argument: one that an untrusted server did not list itself may carry data to that server. */
async function listsResource(
  key: string,
  uri: string,
  { agent }: CallContext,
  signal: AbortSignal,
): Promise<boolean> {
  const features = agent.featuresOf(key);
  const listed = await features.listResources(key, { signal, timeoutMs: LIST_TIMEOUT_MS }).catch(() => []);
  return listed.some((resource) => resource.uri === uri);
}

/** Where a deny rule covers every tool of a server, its resources cannot be read either. */
export function readableServers({ session, agent }: CallContext): string[] {
  const rules = [...session.rules.current().rules, ...policyRules(agent.servers())];
  const isAllowed = (server: string) =>
    removingRule(rules, { name: mcpToolName(server, ''), server, tool: '' }) === undefined;
  return agent.readableServers().filter(isAllowed);
}

/** Why the call must not be sent now: the server or the tool is not the one that was decided on. */
export function sendObstacle(call: PoolCall, target: CallTarget, { agent }: CallContext): string | undefined {
  const { server = '', tool = '', definition } = call;
  if (!call.boundServer)
    return 'the definition of the tool has not been compared with the accepted one yet; repeat the call';
  if (agent.servers().get(server) !== call.boundServer) return SERVER_REPLACED;
  const listed = target.tool(tool);
  if (listed === definition.listed) return undefined;
  if (!listed) return notListed(tool);
  const isChanged =
    findToolChange({ server, place: '' }, definitionOf(definition.listed), listed) !== undefined;
  return isChanged ? `tool "${tool}" changed after permission for this call was decided` : undefined;
}

/** Whether the origin of a tool is trusted, and its name for hooks and permission prompts. */
export function trustOf(
  { name: toolName, origin }: PooledTool,
  server: Server | undefined,
  { configured }: Pick<SessionContext, 'configured'>,
): Pick<PoolCall, 'isTrusted' | 'provenance'> {
  if (origin.kind !== 'mcp') return { isTrusted: true };
  const { server: name, tool } = origin;
  const showsOwnNames = normalizeName(name) === name && normalizeName(tool) === tool;
  return {
    isTrusted: server !== undefined && isTrustedEntry(server.entry),
    provenance: {
      name,
      source: sourceOf(name, server?.origin ?? 'dynamic', configured),
      ...(!(showsOwnNames && toolName === mcpToolName(name, tool)) && { tool }),
    },
  };
}

/** Where a server comes from: `sdk` for one of the program, the scope of its file, or `dynamic`. */
export function sourceOf(name: string, origin: ServerOrigin, configured: ServerScopes | undefined): string {
  return origin === 'sdk' ? 'sdk' : scopeOf(name, origin, configured);
}

export function scopeOf(name: string, origin: ServerOrigin, configured: ServerScopes | undefined): string {
  return (origin === 'config' ? configured?.scopeOf(name) : undefined) ?? 'dynamic';
}

export function removedServer(server: string): HostError {
  return new HostError('unknown-server', server, 'the server was removed from this session', {
    hasRun: 'no',
  });
}

function notListed(tool: string): string {
  return `tool "${tool}" is no longer listed by the server`;
}
