import type { Options, Query, Sdk, UserMessage, WireCase } from './case.ts';

const DEADLINE_MS = 4_000;

/** Runs the case as a program would; an SDK that gets stuck is part of the recording, not a hang. */
export async function drive(sdk: Sdk, wireCase: WireCase, options: () => Options): Promise<unknown> {
  const messages: string[] = [];
  const deadline = Promise.withResolvers<unknown>();
  let query: Query | undefined;
  const timer = setTimeout(() => {
    query?.close();
    deadline.resolve({ messages, stuck: true });
  }, DEADLINE_MS);
  const opened = (it: Query) => {
    query = it;
  };
  try {
    return await Promise.race([deadline.promise, consume(sdk, wireCase, options, messages, opened)]);
  } finally {
    clearTimeout(timer);
  }
}

async function consume(
  sdk: Sdk,
  wireCase: WireCase,
  options: () => Options,
  messages: string[],
  opened: (query: Query) => void,
): Promise<unknown> {
  let acted: Promise<unknown> | undefined;
  const held = Promise.withResolvers<void>();
  let when = 'query()';
  try {
    const prompt = wireCase.prompt ?? (wireCase.act ? openInput(held.promise) : 'hello');
    const query = await start(sdk, wireCase, typeof prompt === 'function' ? prompt() : prompt, options());
    opened(query);
    when = 'iteration';
    for await (const message of query) {
      messages.push('subtype' in message ? `${message.type} ${String(message.subtype)}` : message.type);
      if (message.type === 'result' && wireCase.act) {
        acted ??= act(query, sdk, wireCase.act).finally(held.resolve);
      }
    }
    return { messages, acted: await acted };
  } catch (error) {
    held.resolve();
    return { messages, acted: await acted, failed: { when, ...describe(error, sdk) } };
  }
}

async function act(query: Query, sdk: Sdk, run: NonNullable<WireCase['act']>): Promise<unknown> {
  try {
    const value = await run(query, sdk);
    return value === undefined ? 'undefined' : value;
  } catch (error) {
    return { rejected: describe(error, sdk) };
  }
}

async function start(
  sdk: Sdk,
  wireCase: WireCase,
  prompt: string | AsyncIterable<UserMessage>,
  options: Options,
): Promise<Query> {
  if (wireCase.start !== 'startup') return sdk.query({ prompt, options });
  const warm = await sdk.startup({ options });
  return warm.query(prompt);
}

/** Names and texts are part of the contract; classes are not, as a bundle may rename them. */
function describe(error: unknown, sdk: Sdk): Record<string, unknown> {
  if (!(error instanceof Error)) return { thrown: String(error) };
  const { name, message } = error;
  const { code, errorCode, exitCode } = error as { code?: unknown; errorCode?: unknown; exitCode?: unknown };
  return { name, message, isAbort: error instanceof sdk.AbortError, code, errorCode, exitCode };
}

function openInput(held: Promise<void>): () => AsyncIterable<UserMessage> {
  return async function* () {
    yield { type: 'user', message: { role: 'user', content: 'hello' }, parent_tool_use_id: null };
    await held;
  };
}
