import { expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import type { SDKUserMessage } from '../../../src/protocol/agent-message.ts';
import { drive } from '../../support/drive.ts';
import { fixture } from '../../support/fixture-server.ts';

const said = (content: string): SDKUserMessage =>
  ({
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: null,
    session_id: '',
  }) as SDKUserMessage;

test('an agent that sleeps is woken by a message of the user, within a second', async () => {
  const asleep = Promise.withResolvers<void>();
  async function* prompts() {
    yield said('wait for me');
    await asleep.promise;
    yield said('here I am');
  }
  const { query, model } = drive(
    [toolUse('Sleep', { seconds: 600 }, 't1'), text('ok'), text('hello')],
    {
      prompt: prompts(),
    },
    { builtIns: ['Sleep'] },
  );
  let since = 0;
  let took = Number.NaN;
  for await (const message of query) {
    if (message.type === 'assistant' && since === 0) {
      since = performance.now();
      // The call begins in a later turn of the event loop than the message that tells of it.
      setImmediate(() => setImmediate(asleep.resolve));
    }
    if (message.type === 'user' && Number.isNaN(took)) took = performance.now() - since;
  }
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain(
    'Woken by the user: a message is waiting',
  );
  expect(took).toBeLessThan(1_000);
});

test('and by a server that is lost', async () => {
  const { query, model, session } = drive(
    [toolUse('Sleep', { seconds: 600 }, 't1'), text('ok')],
    {},
    { builtIns: ['Sleep'], servers: { fix: fixture() } },
  );
  for await (const message of query) {
    if (message.type === 'assistant' && message.message.content[0]?.type === 'tool_use') {
      setImmediate(() => setImmediate(() => void session().servers.connection('fix')?.close()));
    }
  }
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('Woken by server fix: it is failed');
});

test('a server that hangs delays the first turn only', async () => {
  const hangs = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] };
  async function* prompts() {
    yield said('one');
    yield said('two');
  }
  const { query } = drive([text('1'), text('2')], { prompt: prompts() }, { servers: { hangs } });
  const ends: number[] = [];
  for await (const message of query) {
    if (message.type === 'result') ends.push(message.duration_ms);
  }
  expect(ends[0]).toBeGreaterThan(3_000);
  expect(ends[1]).toBeLessThan(2_000);
}, 30_000);
