import { onTestFinished } from 'vitest';
import * as z from 'zod';
import type { ModelLimits, ModelMessage, ModelRequest } from '../../src/agent/models/model.ts';
import { type ModelScript, type ScriptedModel, scriptedModel } from '../../src/agent/models/scripted.ts';
import { AgentSession, type SessionOptions } from '../../src/agent/session/agent-session.ts';
import type { AgentLink } from '../../src/control/link.ts';
import { memoryLinks } from '../../src/control/memory-link.ts';
import { parseRule, type Rule } from '../../src/permissions/rule.ts';
import type { SDKMessage, SDKUserMessage, UserBlock } from '../../src/protocol/agent-message.ts';
import type { Frame } from '../../src/protocol/control-frame.ts';
import type { PermissionBehavior } from '../../src/protocol/permission.ts';
import type { Options } from '../../src/sdk/options/options.ts';
import { createQuery } from '../../src/sdk/query.ts';
import type { Prompt, Query } from '../../src/sdk/query-interface.ts';
import { toolServer } from '../../src/tool-server/sdk-server.ts';
import { fakeDeps } from '../sdk/support/fake-deps.ts';

/** The SDK, a memory link and the host in one process. */
export type Drive = {
  readonly query: Query;
  readonly model: ScriptedModel;
  readonly session: () => AgentSession;
  /** Every frame in both directions, in order. */
  readonly frames: { readonly from: 'program' | 'agent'; readonly frame: Frame }[];
};

export function drive(
  script: ModelScript,
  { prompt = 'go', ...options }: Options & { prompt?: Prompt } = {},
  { limits, ...host }: Partial<SessionOptions> & { limits?: Partial<ModelLimits> } = {},
): Drive {
  const model = scriptedModel(script, limits && { limits });
  const frames: Drive['frames'] = [];
  let session: AgentSession | undefined;
  const link = () => {
    const { program, agent } = memoryLinks();
    session = new AgentSession(agent, sessionOptions(model, host));
    return watched(program, frames);
  };
  const world = fakeDeps(options.env as Record<string, string> | undefined);
  const query = createQuery(world).query({ prompt, options: { ...options, link } });
  onTestFinished(async () => {
    query.close();
    session?.end();
    await session?.done;
  });
  return { query, model, session: () => session as AgentSession, frames };
}

/** A session that uses nothing of this machine's configuration. */
export function sessionOptions(model: ScriptedModel, more: Partial<SessionOptions> = {}): SessionOptions {
  return {
    model,
    modelName: 'm',
    version: '0',
    workspace: { cwd: '/w', home: '/h', directories: [] },
    rules: [],
    builtIns: [],
    connect: {
      env: { PATH: process.env.PATH },
      cwd: '/',
      connectTimeoutMs: 10_000,
      clientInfo: { name: 'toolplane', version: '0' },
    },
    ...more,
  };
}

/** A session that a test controls with frames. */
export function raw(
  script: ModelScript,
  host: Partial<SessionOptions> & { limits?: Partial<ModelLimits> } = {},
) {
  const { limits, ...more } = host;
  const model = scriptedModel(script, limits && { limits });
  const { program, agent } = memoryLinks();
  const session = new AgentSession(agent, sessionOptions(model, more));
  onTestFinished(async () => {
    session.end();
    await session.done.catch(() => {});
  });
  const seen: Frame[] = [];
  const waiting = new Set<() => void>();
  const reading = (async () => {
    for await (const frame of program.frames) {
      seen.push(frame);
      for (const look of [...waiting]) look();
    }
  })();
  /** Waits for the nth frame, sent or still to come, that matches. */
  const find = (isIt: (frame: Frame) => boolean, n = 1): Promise<Frame> => {
    const { promise, resolve } = Promise.withResolvers<Frame>();
    const look = () => {
      const found = seen.filter(isIt)[n - 1];
      if (!found) return;
      waiting.delete(look);
      resolve(found);
    };
    waiting.add(look);
    look();
    return promise;
  };
  let asked = 0;
  return {
    model,
    session,
    program,
    seen,
    reading,
    find,
    send: (frame: Frame) => program.send(frame),
    /** Sends a control request and returns the response, success or failure. */
    async ask(subtype: string, body: Frame = {}): Promise<Frame> {
      const request_id = `t${++asked}`;
      await program.send({ type: 'control_request', request_id, request: { subtype, ...body } });
      const isIt = ({ type, response }: Frame) =>
        type === 'control_response' && (response as Frame).request_id === request_id;
      return (await find(isIt)).response as Frame;
    },
    /** Waits for the nth request of the agent with this subtype. */
    async asked(subtype: string, n = 1): Promise<{ request_id: string; request: Frame }> {
      const isIt = ({ type, request }: Frame) =>
        type === 'control_request' && (request as Frame).subtype === subtype;
      return (await find(isIt, n)) as never;
    },
    result: (n = 1) => find(({ type }) => type === 'result', n),
    answer: (request_id: string, response: Frame) =>
      program.send({ type: 'control_response', response: { subtype: 'success', request_id, response } }),
  };
}

function watched(link: AgentLink, frames: Drive['frames']): AgentLink {
  const note = (from: 'program' | 'agent', frame: Frame) => void frames.push({ from, frame });
  return {
    ...link,
    send(frame) {
      note('program', frame);
      return link.send(frame);
    },
    post(frame) {
      note('program', frame);
      link.post?.(frame);
    },
    frames: {
      async *[Symbol.asyncIterator]() {
        for await (const frame of link.frames) {
          note('agent', frame);
          yield frame;
        }
      },
    },
  };
}

/** Parses rules in their written form. */
export function rules(effect: PermissionBehavior, ...texts: string[]): Rule[] {
  return texts.map((text) => {
    const parsed = parseRule(text, effect, 'cliArg');
    if (!parsed.ok) throw new Error(parsed.diagnostic.message);
    return parsed.rule;
  });
}

export const allow = (...texts: string[]) => rules('allow', ...texts);
export const deny = (...texts: string[]) => rules('deny', ...texts);
export const asks = (...texts: string[]) => rules('ask', ...texts);

export const calc = () =>
  toolServer('calc')
    .tool('add', 'Add two numbers', { a: z.number(), b: z.number() }, ({ a, b }) => a + b)
    .tool('boom', 'Fails', {}, () => {
      throw new Error('kaboom');
    });

export const kinds = (messages: readonly SDKMessage[]) =>
  messages.map((message) => ('subtype' in message ? `${message.type} ${message.subtype}` : message.type));

export function said(content: string, more: Partial<SDKUserMessage> = {}): SDKUserMessage {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, ...more };
}

/** The tool results in a model request, by the id of the call; errors begin with `!`. */
export function results(request: ModelRequest | undefined): Record<string, string> {
  const blocks = (request?.messages ?? []).flatMap(({ content }: ModelMessage) => content as UserBlock[]);
  return Object.fromEntries(
    blocks.flatMap((block) =>
      block.type === 'tool_result'
        ? [[block.tool_use_id, `${block.is_error ? '!' : ''}${textOf(block.content)}`]]
        : [],
    ),
  );
}

function textOf(content: string | UserBlock[] = ''): string {
  if (typeof content === 'string') return content;
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('');
}

/** All texts of the last user message in a model request. */
export function texts(request: ModelRequest | undefined): string[] {
  const content = (request?.messages.findLast(({ role }) => role === 'user')?.content ?? []) as UserBlock[];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

/** Reads messages up to the `result` of the given turn, counted from 1. */
export async function untilResult(query: Query, n = 1): Promise<SDKMessage[]> {
  const seen: SDKMessage[] = [];
  let left = n;
  while (left > 0) {
    const next = await query.next();
    if (next.done) break;
    seen.push(next.value);
    if (next.value.type === 'result') left--;
  }
  return seen;
}

export const resultOf = (messages: readonly SDKMessage[]) =>
  messages.find((message) => message.type === 'result');
