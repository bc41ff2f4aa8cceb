import { type Configuration, readConfiguration } from '../../config/configuration.ts';
import { resolveTool } from '../../config/explain/resolve-tool.ts';
import { NotUnderstood } from '../host/not-understood.ts';
import { withHost } from '../host/with-host.ts';
import { dialable } from '../mcp/connect.ts';
import { freshConfiguration } from '../mcp/fresh-configuration.ts';
import { inSession, type Session } from '../mcp/session.ts';
import { liveTools, serversToAsk } from './ask.ts';
import { type Asked, BUILT_IN_NAMES, explain, toolName } from './explain.ts';
import { readCall } from './read-call.ts';
import { realCall } from './real-call.ts';
import type { ExplainRequest } from './request.ts';

/** `toolplane explain`; gives its exit code. */
export function startExplain(asks: ExplainRequest, env: NodeJS.ProcessEnv): Promise<number> {
  return inSession(asks.format, env, async (session) => {
    const request = withWrittenCall(asks);
    const configuration = await configurationOf(session, request);
    const servers = dialable(serversToAsk(configuration, request));
    const call = await realCall(configuration, request);
    const answer = (asked: Asked) => tell(session, explain(configuration, request, { ...asked, call }));
    if (Object.keys(servers).length === 0) return answer({ statuses: {} });
    const needed = { servers, configuration, format: request.format };
    return withHost(needed, env, async ({ host, warnings }) => {
      const statuses = host.status();
      if (request.about !== 'tool') return answer({ statuses });
      const listed = await host.listTools();
      const tools = listed.filter(({ server }) => statuses[server]?.state === 'connected');
      return answer({
        statuses,
        live: liveTools(
          servers,
          { tools, warnings },
          resolveTool(configuration, toolName(request)).name,
          env,
        ),
      });
    });
  });
}

/** A permission may be asked for by a call that is written as in a rule; its arguments are given only once. */
function withWrittenCall(request: ExplainRequest): ExplainRequest {
  const { about, name, input } = request;
  if (about !== 'permission' || name === undefined) return request;
  const call = readCall(name, BUILT_IN_NAMES);
  if ('fault' in call) throw new NotUnderstood(call.fault);
  if (call.input && input) {
    throw new NotUnderstood(
      `the arguments are given twice, in ${JSON.stringify(name)} and as JSON: leave one out`,
    );
  }
  return { ...request, ...call, ...(call.input && { isWritten: true }) };
}

/** Who asks for a server asks also for what catalogues say of it now; who wants nobody dialled gets what is known. */
function configurationOf(
  session: Session,
  { about, connects, wanted }: ExplainRequest,
): Promise<Configuration> {
  return about === 'server' && connects
    ? freshConfiguration(session, wanted)
    : readConfiguration(session.world, wanted);
}

async function tell(
  session: Session,
  { document, pieces, code }: ReturnType<typeof explain>,
): Promise<number> {
  await session.answer({ document, pieces });
  return code;
}
