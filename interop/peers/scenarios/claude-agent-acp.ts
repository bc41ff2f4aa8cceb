import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { MessagesRequest } from '../../../test/support/model-api/messages-request.ts';
import { type Reply, text, toolUse } from '../../../test/support/model-api/model-reply.ts';
import { latestTexts, toolResults } from '../../../test/support/model-api/model-view.ts';
import type { Setup } from '../scenario.ts';

/** Writes the file that the user named. */
export function script(request: MessagesRequest): Reply {
  if (toolResults(request).length > 0) return text('Written.');
  const [, name] = /Write (\w+\.txt)/.exec(latestTexts(request).at(-1) ?? '') ?? [];
  return name ? toolUse('Write', { file_path: name, content: 'one\ntwo\n' }) : text('Hello', ' again.');
}

type Update = { sessionUpdate: string; _meta?: { claudeCode?: object }; [key: string]: unknown };
type Permission = { toolCall: object; options: { optionId: string; kind: string; name: string }[] };
type Session = { sessionId: string; modes?: unknown };
type SessionInfo = { title?: string | null };
type Agent = {
  request<Response = unknown>(method: string, params: object): Promise<Response>;
  notify(method: string, params: object): Promise<void>;
};
type App = {
  onRequest(method: string, handler: (context: { params: never }) => unknown): App;
  onNotification(method: string, handler: (context: { params: never }) => unknown): App;
  connectWith<T>(stream: unknown, use: (agent: Agent) => Promise<T>): Promise<T>;
};
type Acp = {
  PROTOCOL_VERSION: number;
  ndJsonStream(output: unknown, input: unknown): unknown;
  client(): App;
};

/** An editor's session: prompts, permission requests, a cancelled prompt, and the session loaded by a new process. */
export async function run(setup: Setup): Promise<unknown> {
  const { cwd } = setup;
  const place = { cwd, mcpServers: [] };
  let sessionId = '';
  const first = await withAgent(setup, async (agent) => {
    const created = await agent.request<Session>('session/new', place);
    sessionId = created.sessionId;
    const say = async (words: string) => {
      const prompt = [{ type: 'text', text: words }];
      const { stopReason } = await agent.request<{ stopReason: string }>('session/prompt', {
        sessionId,
        prompt,
      });
      return stopReason;
    };
    const stops = [await say('Say hello.'), await say('Write a.txt'), await say('Write b.txt')];
    return { modes: created.modes, stops, written: await readFile(join(cwd, 'a.txt'), 'utf8') };
  });
  const later = await withAgent(setup, async (agent) => {
    const list = await attempt(agent.request<{ sessions: SessionInfo[] }>('session/list', { cwd }));
    const sessions =
      'threw' in list ? list : list.sessions.map(({ title, ...info }) => ({ ...info, isTitled: !!title }));
    const loaded = await attempt(agent.request<Session>('session/load', { sessionId, ...place }));
    return { sessions, loaded: 'threw' in loaded ? loaded : loaded.modes };
  });
  return { first, later };
}

async function attempt<T>(response: Promise<T>): Promise<T | { threw: string }> {
  try {
    return await response;
  } catch (error) {
    return { threw: String(error) };
  }
}

/** Updates whose content or time belongs to the agent: its commands, its figures, and the title that its model finds. */
const OF_THE_AGENT = ['available_commands_update', 'usage_update', 'session_info_update'];

/** Runs the adapter as an editor does. A request to write `b.txt` cancels the prompt, and is answered after its end. */
async function withAgent<T>(
  { load, agent: executable, packagePath }: Setup,
  use: (agent: Agent) => Promise<T>,
): Promise<{ used: T; capabilities: unknown; updates: unknown[]; asked: unknown[] }> {
  const { client, ndJsonStream, PROTOCOL_VERSION } = await load<Acp>('@agentclientprotocol/sdk');
  const program = join(packagePath('@agentclientprotocol/claude-agent-acp'), 'dist/index.js');
  const child = spawn(process.execPath, [program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      CLAUDE_CODE_EXECUTABLE: executable,
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
      ANTHROPIC_MODEL: 'claude-sonnet-5',
    },
  });
  const updates: Update[] = [];
  const asked: unknown[] = [];
  let cancel = async (_sessionId: string) => {};
  let prompt: Promise<unknown> | undefined;
  const app = client()
    .onNotification('session/update', ({ params }: { params: { update: Update } }) => {
      if (!OF_THE_AGENT.includes(params.update.sessionUpdate)) updates.push(params.update);
    })
    .onRequest('session/request_permission', async ({ params }: { params: Permission & Session }) => {
      const { toolCall, options, sessionId } = params;
      asked.push({ toolCall, options });
      if (JSON.stringify(toolCall).includes('b.txt')) {
        await cancel(sessionId);
        await prompt;
        return { outcome: { outcome: 'cancelled' } };
      }
      const allowed = options.find(({ kind }) => kind === 'allow_once');
      return { outcome: { outcome: 'selected', optionId: allowed?.optionId } };
    });
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const seen = await app.connectWith(stream, async (connection) => {
    cancel = (sessionId) => connection.notify('session/cancel', { sessionId });
    const { agentCapabilities } = await connection.request<{ agentCapabilities: unknown }>('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    const agent: Agent = {
      request: (method, params) => {
        const response = connection.request<never>(method, params);
        if (method === 'session/prompt') prompt = response;
        return response;
      },
      notify: (method, params) => connection.notify(method, params),
    };
    return { used: await use(agent), capabilities: agentCapabilities };
  });
  if (child.exitCode === null) {
    child.kill();
    await once(child, 'close');
  }
  return { ...seen, updates: merged(updates), asked };
}

/** As an editor shows them: one entry per tool call, with its latest fields. */
function merged(updates: readonly Update[]): Update[] {
  const shown: Update[] = [];
  for (const update of updates) {
    const id = update.toolCallId;
    const call = id === undefined ? undefined : shown.find(({ toolCallId }) => toolCallId === id);
    const meta = { claudeCode: { ...call?._meta?.claudeCode, ...update._meta?.claudeCode } };
    if (call) Object.assign(call, { ...update, sessionUpdate: 'tool_call', _meta: meta });
    else shown.push({ ...update });
  }
  return shown;
}
