import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { error, text } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk, type UserMessage } from '../program.ts';

/** The endpoint accepts the first image and rejects every request with a second one, and the last prompt always. */
export const script = (request: MessagesRequest, n: number) => {
  const isLast = JSON.stringify(request.messages).includes('the last');
  const isRejected = isLast || imagesPerMessage(request).flat().length > 1;
  return isRejected ? error(400, 'messages.0.content.1.image: Could not process image') : text(`Reply ${n}`);
};

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

type Content = UserMessage['message']['content'];

/** Data that is no image is not sent; an image that the endpoint rejects is removed, also for later turns and queries. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  let session = '';
  const ask = async (prompts: Content[], resume?: string) => {
    const chat = converse();
    const sendNext = () => {
      const next = prompts.shift();
      if (next === undefined) chat.end();
      else chat.say(next);
    };
    const more = resume === undefined ? {} : { resume };
    const query = sdk.query({ prompt: chat, options: { ...options(sandbox), ...more } });
    sendNext();
    return await transcribe(query, (message) => {
      if (message.type !== 'result') return;
      session = message.session_id;
      sendNext();
    });
  };
  const first = await ask([look('one', PIXEL), look('two', 'QUFBQQ=='), look('three', PIXEL), 'hi']);
  const resumed = await ask(['hello'], session);
  const failed = await ask([look('the last', PIXEL)]);
  return { first, resumed, failed, images: sandbox.api.requests.map(imagesPerMessage) };
}

function look(words: string, data: string): Content {
  return [
    { type: 'text', text: words },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
  ];
}

/** The images of each message of the user that has some. */
function imagesPerMessage({ messages }: MessagesRequest): string[][] {
  const images = messages.map(({ content }) =>
    Array.isArray(content)
      ? content.map((it: { type: string }) => it.type).filter((type) => type === 'image')
      : [],
  );
  return images.filter((found) => found.length > 0);
}
