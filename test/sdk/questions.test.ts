import { expect, test } from 'vitest';
import { NO_REPLY } from '../../src/control/channel.ts';
import { askDialog, askElicitation } from '../../src/sdk/questions.ts';

const signal = new AbortController().signal;
const served = { id: 'q-1', signal, reply() {} };
const CANCELLED = { behavior: 'cancelled' };
const DECLINED = { action: 'decline' };

test.each<[string, unknown, unknown]>([
  [
    'accepted',
    { action: 'accept', content: { name: 'Ada' } },
    { action: 'accept', content: { name: 'Ada' } },
  ],
  ['cancelled', { action: 'cancel' }, { action: 'cancel' }],
  ['null: answered elsewhere', null, NO_REPLY],
  ['nothing', undefined, DECLINED],
  ['nonsense', { hello: 1 }, DECLINED],
  ['a text', 'yes', DECLINED],
])('a question, %s', async (_, answer, reply) => {
  expect(await askElicitation(async () => answer as never, { message: '?' }, served)).toEqual(reply);
});

test('a question nobody answers is declined', async () => {
  expect(await askElicitation(undefined, { message: '?' }, served)).toEqual(DECLINED);
});

test('a question arrives with its members in our spelling, absent ones absent', async () => {
  const seen: unknown[] = [];
  const note = async (...args: unknown[]) => {
    seen.push(args);
    return null;
  };
  await askElicitation(
    note,
    {
      mcp_server_name: 'st',
      message: 'Name?',
      mode: 'url',
      url: 'https://example.invalid/',
      elicitation_id: 'e',
      requested_schema: { type: 'object' },
      title: 'T',
      display_name: 'D',
      description: 'd',
      property_order: ['name'],
    },
    served,
  );
  await askElicitation(note, { mcp_server_name: 'st', message: 'Name?' }, served);
  expect(seen).toEqual([
    [
      {
        serverName: 'st',
        message: 'Name?',
        mode: 'url',
        url: 'https://example.invalid/',
        elicitationId: 'e',
        requestedSchema: { type: 'object' },
        title: 'T',
        displayName: 'D',
        description: 'd',
      },
      { signal, requestId: 'q-1' },
    ],
    [
      { serverName: 'st', message: 'Name?' },
      { signal, requestId: 'q-1' },
    ],
  ]);
});

test.each<[string, unknown, unknown]>([
  ['completed', { behavior: 'completed', result: 1 }, { behavior: 'completed', result: 1 }],
  ['null: answered elsewhere', null, NO_REPLY],
  ['nothing', undefined, CANCELLED],
  ['nonsense', ['x'], CANCELLED],
])('a dialog, %s', async (_, answer, reply) => {
  expect(await askDialog(async () => answer as never, { dialog_kind: 'k', payload: {} }, served)).toEqual(
    reply,
  );
});

test('a dialog nobody shows is cancelled; one that is shown arrives whole', async () => {
  expect(await askDialog(undefined, { dialog_kind: 'k' }, served)).toEqual(CANCELLED);
  const seen: unknown[] = [];
  await askDialog(
    async (...args) => {
      seen.push(args);
      return null;
    },
    { dialog_kind: 'k', payload: { a: 1 }, tool_use_id: 't' },
    served,
  );
  expect(seen).toEqual([
    [
      { dialogKind: 'k', payload: { a: 1 }, toolUseID: 't' },
      { signal, requestId: 'q-1' },
    ],
  ]);
});

test.each([askElicitation, askDialog])('%o: what the callback throws is the failure', async (ask) => {
  const explode = async () => {
    throw new Error('no screen');
  };
  await expect(ask(explode, {}, served)).rejects.toThrow('no screen');
});
