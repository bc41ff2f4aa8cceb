// A session as the agent starts it, whose scripted model reads a file in every turn and counts tokens, so that the
// conversation is compacted like a real one.
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { MessageReply, ModelMessage, ModelRequest } from '../internals/agent.ts';

type Internals = typeof import('../internals/agent.ts');

export type CountedSession = AsyncDisposable & {
  readonly id: string;
  /** The number of requests so far that asked for a summary. */
  compactions(): number;
  /** The number of messages in the last request of the conversation. */
  messages(): number;
  /** Runs one turn; returns its time without that of the model, in milliseconds. */
  turn(): Promise<number>;
  /** The time from the start of the session to its first model request, in milliseconds. */
  readonly firstRequestMs: Promise<number>;
};

const FILE_LINES = 40;
const WORDS = 'The quick brown fox jumps over the lazy dog. ';
const BYTES_PER_TOKEN = 4;

/** Starts a session in the home directory of this process; `resume` is the id of an earlier one. */
export async function openCountedSession(module: string, resume?: string): Promise<CountedSession> {
  const { launch, parseFlags, memoryLinks, replyEvents } = (await import(module)) as Internals;
  const cwd = join(homedir(), 'project');
  mkdirSync(cwd, { recursive: true });
  const file = join(cwd, 'notes.txt');
  writeFileSync(file, `${WORDS.repeat(2)}\n`.repeat(FILE_LINES));
  const startedAt = performance.now();
  const links = memoryLinks();
  const session = await launch(links.agent, {
    flags: parseFlags(['--model=rehearsal', ...(resume === undefined ? [] : [`--resume=${resume}`])]),
    env: {},
    cwd,
    home: homedir(),
    version: '0',
    now: () => new Date(),
    note: (text) => process.stderr.write(`${text}\n`),
    signal: new AbortController().signal,
  });
  if (!('options' in session)) throw new Error(`session ${resume} was not found`);

  let requests = 0;
  let compactions = 0;
  let messageCount = 0;
  let modelMs = 0;
  const first = Promise.withResolvers<number>();
  const sizes = new WeakMap<ModelMessage, number>();
  const sizeOf = (message: ModelMessage): number => {
    const size = sizes.get(message) ?? JSON.stringify(message).length;
    sizes.set(message, size);
    return size;
  };
  const replyTo = ({ messages, tools }: ModelRequest): MessageReply => {
    const isSummary = tools.length === 0;
    if (isSummary) compactions += 1;
    else messageCount = messages.length;
    const last = messages.at(-1)?.content ?? [];
    const isAnswered = last.some(({ type }) => type === 'tool_result');
    const input_tokens = Math.ceil(messages.reduce((sum, it) => sum + sizeOf(it), 0) / BYTES_PER_TOKEN);
    const block =
      isAnswered || isSummary
        ? ({ type: 'text', parts: [WORDS.repeat(20)] } as const)
        : ({ type: 'tool_use', name: 'Read', input: { file_path: file }, id: `toolu_${requests}` } as const);
    return { blocks: [block], usage: { input_tokens, output_tokens: 200 } };
  };
  // The model that the flags have chosen is replaced; everything else is as in a real session.
  Object.assign(session.options.model, {
    limits: { toolName: 64, contextTokens: 200_000, outputTokens: 32_000 },
    async *stream(request: ModelRequest) {
      const since = performance.now();
      first.resolve(since - startedAt);
      requests += 1;
      const events = replyEvents(replyTo(request), requests, 'rehearsal');
      modelMs += performance.now() - since;
      yield* events;
    },
  });

  const frames = links.program.frames[Symbol.asyncIterator]();
  return {
    get id() {
      return session.id;
    },
    compactions: () => compactions,
    messages: () => messageCount,
    firstRequestMs: first.promise,
    async turn() {
      const since = performance.now();
      modelMs = 0;
      const message = { role: 'user', content: WORDS.repeat(4) };
      await links.program.send({ type: 'user', message, uuid: randomUUID() });
      for (;;) {
        const { value: frame, done } = await frames.next();
        if (done) throw new Error('the session ended');
        if (frame.type !== 'result') continue;
        if (frame.subtype !== 'success') throw new Error(JSON.stringify(frame));
        return performance.now() - since - modelMs;
      }
    },
    async [Symbol.asyncDispose]() {
      links.program.end();
      await session.done;
    },
  };
}
