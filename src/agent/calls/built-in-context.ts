import { matchesCall } from '../../permissions/match.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { BuiltInContext, ResourceReader } from '../builtins/built-in.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import { type ResultSource, resultSource, taskOutputPath } from '../results/result-files.ts';
import { contentsToModel, failureToModel } from '../results/to-model.ts';
import type { CallContext, SessionContext } from './call-context.ts';
import { workspaceOf } from './decide-call.ts';
import type { PoolCall } from './pool-call.ts';
import { readableServers, SERVER_REPLACED } from './resolve-call.ts';
import { findTools } from './tool-disclosure.ts';

/** The services of the session and the agent that a built-in tool works with. */
export function builtInContext(call: PoolCall, context: CallContext): BuiltInContext {
  const { session, agent } = context;
  const { env, files, checkpoints, wake, background } = session;
  const givenPath = call.originalInput?.[call.builtIn?.pathMember ?? ''];
  return {
    workspace: session.workspace(),
    toolUseId: call.id,
    isApproved: call.isApproved === true,
    tasks: session.tasks,
    outputFile: (id) => taskOutputPath(session.results, id),
    moveShell: (directory) => session.directory.move(directory),
    env,
    files,
    checkpoints,
    wake,
    services: session.services,
    background,
    ...(typeof givenPath === 'string' && { givenPath }),
    isReadable: readFilter(call, session),
    connect: agent.connectServer,
    findTools: (query, limit) => findTools(query, limit, agent),
    resources: resourceReader(call, context),
  };
}

/** Lists and reads resources of the servers that the agent may read from. */
function resourceReader({ name, boundServer }: PoolCall, context: CallContext): ResourceReader {
  const { session, agent } = context;
  const sourceOf = (server: string): ResultSource => {
    const policy = { ...session.results, canUse: (tool: string) => agent.pool().byName.has(tool) };
    return resultSource(policy, { name, server });
  };
  return {
    async list(server, signal) {
      const readable = readableServers(context);
      if (server !== undefined && !readable.includes(server))
        return { fault: notConnected(server, readable) };
      const keys = server === undefined ? readable : [server];
      const lists = await Promise.all(keys.map((key) => listOf(key, context, signal)));
      return {
        resources: lists.flatMap((it) => it.resources),
        templates: lists.flatMap((it) => it.templates),
        faults: lists.flatMap((it) => it.faults),
      };
    },
    async watch(server, uri, isWatched, signal) {
      if (isWatched) return session.watch.add(server, uri, agent.featuresOf(server), signal);
      return void (await session.watch.remove(server, uri));
    },
    async read(server, uri, signal) {
      const readable = readableServers(context);
      if (!readable.includes(server)) return failedOutcome(notConnected(server, readable));
      if (agent.servers().get(server) !== boundServer) {
        return failedOutcome(`MCP server "${server}": ${SERVER_REPLACED}; repeat the call`);
      }
      try {
        const { contents } = await agent.featuresOf(server).readResource(server, uri, { signal });
        return (await contentsToModel(contents, sourceOf(server), signal)) as ToolOutcome;
      } catch (failure) {
        signal.throwIfAborted();
        return (await failureToModel(failure, sourceOf(server))) as ToolOutcome;
      }
    },
  };
}

/** A server that fails to list adds a line to `faults`; the lists of the other servers are unaffected. */
async function listOf(key: string, { agent }: CallContext, signal: AbortSignal) {
  const features = agent.featuresOf(key);
  try {
    const [resources, templates] = await Promise.all([
      features.listResources(key, { signal }),
      features.listResourceTemplates(key, { signal }),
    ]);
    return { resources, templates, faults: [] };
  } catch (failure) {
    signal.throwIfAborted();
    return { resources: [], templates: [], faults: [messageOf(failure)] };
  }
}

function notConnected(server: string, readable: readonly string[]): string {
  return `There is no connected server '${server}'. Connected: ${readable.join(', ') || '(none)'}`;
}

/** Searches leave out the files that a deny rule for `Read`, or for the searching tool itself, covers. */
function readFilter(call: PoolCall, session: SessionContext): (path: string) => boolean {
  const { name } = call;
  const member = call.builtIn?.pathMember;
  const denied = session.rules.current().rules.filter(({ effect }) => effect === 'deny');
  const workspace = workspaceOf(call, session);
  return (path) => {
    const calls = [
      { name: 'Read', input: { file_path: path } },
      ...(member === undefined ? [] : [{ name, input: { [member]: path } }]),
    ];
    return !denied.some((rule) => calls.some((it) => matchesCall(rule, it, workspace)));
  };
}
