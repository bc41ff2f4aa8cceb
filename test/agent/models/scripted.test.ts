import { expect, test } from 'vitest';
import { collectMessage } from '../../../src/agent/models/message-collector.ts';
import { ModelError } from '../../../src/agent/models/model.ts';
import { fails, scriptedModel, text, together, toolUse } from '../../../src/agent/models/scripted.ts';
import { collect } from '../../support/collect.ts';
import { modelRequest } from './requests.ts';

test('replies come in order with deterministic ids', async () => {
  const run = async () => {
    const model = scriptedModel([toolUse('add', { a: 1 }), text('done')]);
    return [await collect(model.stream(modelRequest())), await collect(model.stream(modelRequest()))];
  };
  const [first, second] = await run();
  expect(collectMessage(first ?? []).content).toMatchObject([{ id: 'toolu_0001_0', name: 'add' }]);
  expect(collectMessage(second ?? [])).toMatchObject({
    stop_reason: 'end_turn',
    content: [{ text: 'done' }],
  });
  expect(await run()).toEqual([first, second]);
});

test('joins several replies to one message', async () => {
  const model = scriptedModel([together(text('a'), toolUse('t'), toolUse('t', {}, 'mine'))]);
  const message = collectMessage(await collect(model.stream(modelRequest())));
  expect(message.content.map((block) => ('id' in block ? block.id : block.type))).toEqual([
    'text',
    'toolu_0001_1',
    'mine',
  ]);
});

test('records requests as they were sent', async () => {
  const model = scriptedModel((_, n) => text(`reply ${n}`));
  const messages = [...modelRequest().messages];
  await collect(model.stream(modelRequest({ messages })));
  messages.push({ role: 'assistant', content: [] });
  expect(model.requests.map((request) => request.messages.length)).toEqual([1]);
});

test('a model of a long conversation records nothing', async () => {
  const model = scriptedModel((_, n) => text(`reply ${n}`), { records: false });
  await collect(model.stream(modelRequest()));
  const second = await collect(model.stream(modelRequest()));
  expect(JSON.stringify(second)).toContain('reply 2');
  expect(model.requests).toEqual([]);
});

test('throws scripted errors, and an error at the end of the script', async () => {
  const model = scriptedModel([fails(new ModelError('overloaded', 'busy'))]);
  await expect(collect(model.stream(modelRequest()))).rejects.toMatchObject({ code: 'overloaded' });
  await expect(collect(model.stream(modelRequest()))).rejects.toThrow('no reply for request 2');
});

test('an abort ends a pending and a partial reply', async () => {
  const hanging = new AbortController();
  const never = collect(
    scriptedModel(() => new Promise(() => {})).stream(modelRequest({ signal: hanging.signal })),
  );
  hanging.abort(new Error('enough'));
  await expect(never).rejects.toThrow('enough');

  const streaming = new AbortController();
  const events = scriptedModel([text('a', 'b')]).stream(modelRequest({ signal: streaming.signal }));
  const reading = (async () => {
    for await (const event of events) {
      if (event.type === 'content_block_delta') streaming.abort(new Error('stop'));
    }
  })();
  await expect(reading).rejects.toThrow('stop');
});
