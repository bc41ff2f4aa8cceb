import { text } from '../../test/support/model-api/model-reply.ts';
import { converse } from '../conversation.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = () => text('ok');

/** The models of the turns: one without a name, names with `[1m]`, and a name whose model depends on the permission mode. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const chat = converse();
  const query = sdk.query({ prompt: chat, options: { ...options(sandbox), model: 'haiku' } });
  const changes = [
    () => query.setModel(),
    () => query.setModel('sonnet[1m]'),
    () => query.setModel('default'),
    () => query.setModel('claude-sonnet-4-5[1m]'),
    () => query.setModel('opusplan'),
    () => query.setPermissionMode('plan'),
    () => query.setPermissionMode('default'),
    () => query.setModel('my-model[1m]'),
  ];
  const seen: unknown[] = [];
  chat.say('hello');
  for await (const message of query) {
    if (message.type === 'system' && message.subtype === 'init') seen.push(message.model);
    if (message.type === 'user' && 'isReplay' in message) seen.push(message.message.content);
    if (message.type !== 'result') continue;
    const models = Object.entries(message.modelUsage);
    seen.push(models.map(([model, it]) => [model, it.contextWindow, it.provider, it.outputTokens]));
    const change = changes.shift();
    if (change) {
      await change();
      chat.say('next');
    } else chat.end();
  }
  return { seen, asked: sandbox.api.requests.map((it) => it.model) };
}
