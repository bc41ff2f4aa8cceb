import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  type ClientCapabilities,
  type ClientContext,
  type ContentBlock,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import { onTestFinished } from 'vitest';
import type { MessagesApi, Script } from '../../support/model-api/messages-api.ts';
import { openAgentSandbox } from './agent-sandbox.ts';
import { startCli } from './run-cli.ts';

/** Answers the permission requests of a test. */
type Answer = (
  request: RequestPermissionRequest,
) => RequestPermissionResponse | Promise<RequestPermissionResponse>;

type Kind = SessionUpdate['sessionUpdate'];

/** `toolplane acp` as a process, with the official client library and a scripted model. */
export type AcpClient = {
  readonly agent: ClientContext;
  readonly initialized: InitializeResponse;
  readonly cwd: string;
  readonly api: MessagesApi;
  /** All updates so far, of all sessions. */
  readonly updates: readonly SessionUpdate[];
  readonly permissions: readonly RequestPermissionRequest[];
  /** What the process has printed on stderr so far. */
  readonly stderr: () => string;
  /** Ends the process and resolves with its exit code. */
  readonly end: () => Promise<number>;
  updatesOf<K extends Kind>(kind: K): Extract<SessionUpdate, { sessionUpdate: K }>[];
  /** Resolves with the next update that fits; earlier updates count, too. */
  until<K extends Kind>(
    kind: K,
    fits?: (update: Extract<SessionUpdate, { sessionUpdate: K }>) => boolean,
  ): Promise<Extract<SessionUpdate, { sessionUpdate: K }>>;
  newSession(more?: object): Promise<string>;
  prompt(sessionId: string, text: string): Promise<string>;
};

/** Starts the command; it ends with the test. */
export async function openAcp(
  script: Script,
  {
    answer = select('allow'),
    capabilities = {},
    args = [],
    env: more = {},
    onElicitation = () => ({ action: 'decline' }),
  }: {
    answer?: Answer;
    capabilities?: ClientCapabilities;
    args?: string[];
    /** Variables in addition to those of the scripted model. */
    env?: Record<string, string>;
    onElicitation?: (request: CreateElicitationRequest) => CreateElicitationResponse;
  } = {},
): Promise<AcpClient> {
  const sandbox = await openAgentSandbox(script);
  const { cwd, env, api } = sandbox;
  const child = startCli(['acp', ...args], {
    cwd,
    env: { ...env, TOOLPLANE_HOME: `${cwd}/.toolplane`, ...more },
  });
  const closed = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const updates: SessionUpdate[] = [];
  const permissions: RequestPermissionRequest[] = [];
  let wake = Promise.withResolvers<void>();
  const app = client({ name: 'test' })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params);
      return answer(params);
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => onElicitation(params))
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
      wake.resolve();
      wake = Promise.withResolvers<void>();
    });
  const input = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
  const connection = app.connect(ndJsonStream(Writable.toWeb(child.stdin), input));
  const end = async () => {
    connection.close();
    child.stdin.end();
    return closed;
  };
  onTestFinished(async () => {
    await end();
    await sandbox[Symbol.asyncDispose]();
  });
  const { agent } = connection;
  const initialized = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: capabilities,
  });
  const updatesOf: AcpClient['updatesOf'] = (kind) =>
    updates.filter((update): update is never => update.sessionUpdate === kind);
  return {
    agent,
    initialized,
    cwd,
    api,
    updates,
    permissions,
    stderr: () => stderr,
    end,
    updatesOf,
    async until(kind, fits = () => true) {
      for (;;) {
        const found = updatesOf(kind).find(fits);
        if (found) return found;
        await wake.promise;
      }
    },
    async newSession(more = {}) {
      const response = await agent.request(methods.agent.session.new, { cwd, mcpServers: [], ...more });
      return response.sessionId;
    },
    async prompt(sessionId, text) {
      const prompt: ContentBlock[] = [{ type: 'text', text }];
      const response = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
      await delivered();
      return response.stopReason;
    },
  };
}

/** Resolves when the handlers of all updates that came before the last response have run. */
export async function delivered(): Promise<void> {
  await setImmediate();
}

/** An answer that selects the option. */
export function select(optionId: string): Answer {
  return () => ({ outcome: { outcome: 'selected', optionId } });
}

/** The text of message chunks. */
export function chunkText(updates: readonly SessionUpdate[], kind: Kind = 'agent_message_chunk'): string {
  return updates
    .map((update) =>
      update.sessionUpdate === kind &&
      'content' in update &&
      !Array.isArray(update.content) &&
      update.content?.type === 'text'
        ? update.content.text
        : '',
    )
    .join('');
}
