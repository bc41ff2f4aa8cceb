import { expect, test } from 'vitest';
import { query } from '../../../src/entry/index.ts';
import { collect } from '../../support/collect.ts';
import { startMessagesApi } from '../../support/messages-api.ts';
import { error, text } from '../../support/model-reply.ts';

test('a model that is asked again is told of, with its status and how long it is left alone', async () => {
  await using api = await startMessagesApi([error(529, 'busy', 'overloaded_error'), text('Here I am.')]);
  const messages = await collect(
    query({
      prompt: 'hi',
      options: {
        env: { ANTHROPIC_API_KEY: 'dummy', ANTHROPIC_BASE_URL: api.url },
        persistSession: false,
        tools: [],
      },
    }),
  );
  expect(messages.find((it) => 'subtype' in it && it.subtype === 'api_retry')).toMatchObject({
    type: 'system',
    attempt: 1,
    max_retries: 10,
    error_status: 529,
    error: 'overloaded',
    endpoint: api.url,
    retry_delay_ms: expect.any(Number),
  });
  expect(messages.at(-1)).toMatchObject({ subtype: 'success', result: 'Here I am.' });
});
