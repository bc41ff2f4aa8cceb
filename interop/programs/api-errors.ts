import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { error } from '../../test/support/model-api/model-reply.ts';
import { latestTexts } from '../../test/support/model-api/model-view.ts';
import { type Conversation, converse } from '../conversation.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

/** By prompt: the status, the error type and the message of the endpoint. */
const ERRORS: Readonly<Record<string, readonly [number, string, string]>> = {
  'bad request': [400, 'invalid_request_error', 'the prompt is too strange'],
  'no credit': [400, 'invalid_request_error', 'Your credit balance is too low to access the API.'],
  'too long': [400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum'],
  'wrong key': [401, 'authentication_error', 'invalid x-api-key'],
  forbidden: [403, 'permission_error', 'not allowed'],
  'no such model': [404, 'not_found_error', 'model: claude-sonnet-5'],
  'too large': [413, 'request_too_large', 'Request exceeds the maximum size'],
  'too many': [429, 'rate_limit_error', 'slow down'],
  broken: [500, 'api_error', 'Internal server error'],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
};

export const script = (request: MessagesRequest) => {
  const [status, type, message] = ERRORS[latestTexts(request).at(-1) ?? ''] ?? [400, 'api_error', 'unknown'];
  return error(status, message, type);
};

/** Prompts after which an agent may compact the conversation, so that each needs a conversation of its own. */
const ALONE = ['too long', 'too large'];

/** Each kind of error of the endpoint, without retries, and an endpoint that cannot be reached. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const given = options(sandbox);
  const ask = (prompt: string | Conversation, env: Record<string, string> = {}) => {
    const all = { ...given, env: { ...given.env, CLAUDE_CODE_MAX_RETRIES: '0', ...env } };
    return sdk.query({ prompt, options: all });
  };
  const prompts = Object.keys(ERRORS).filter((prompt) => !ALONE.includes(prompt));
  const chat = converse();
  const sendNext = () => {
    const prompt = prompts.shift();
    if (prompt === undefined) chat.end();
    else chat.say(prompt);
  };
  sendNext();
  const inOne = await transcribe(ask(chat), (message) => message.type === 'result' && sendNext());
  const alone: unknown[] = [];
  for (const prompt of ALONE) alone.push(await transcribe(ask(prompt)));
  const unreachable = await transcribe(ask('Hello.', { ANTHROPIC_BASE_URL: 'http://127.0.0.1:3' }));
  return { inOne, alone, unreachable };
}
