import { expect, test } from 'vitest';
import { hostRequestHandlers } from '../../src/host/host-context.ts';

const NEVER = new AbortController().signal;

test('a capability without a handler is neither declared nor answered', () => {
  expect(hostRequestHandlers('srv', {})).toEqual({ capabilities: {}, handlers: {} });
});

test('a handler gets the name of the server', async () => {
  const asked: unknown[] = [];
  const { capabilities, handlers: answers } = hostRequestHandlers('srv', {
    elicitation: async (params, { server }) => {
      asked.push([server, params]);
      return { action: 'decline' };
    },
  });
  expect(capabilities).toEqual({ elicitation: { form: { applyDefaults: true }, url: {} } });
  expect(await answers['elicitation/create']?.({ message: 'Name?' }, NEVER)).toEqual({ action: 'decline' });
  expect(asked).toEqual([['srv', { message: 'Name?' }]]);
});

test.each([
  ['a list', [{ uri: 'file:///srv' }]],
  ['a function that lists them', async () => [{ uri: 'file:///srv' }]],
])('roots are %s', async (_, roots) => {
  const { handlers: answers } = hostRequestHandlers('srv', { roots });
  expect(await answers['roots/list']?.({}, NEVER)).toEqual({ roots: [{ uri: 'file:///srv' }] });
});
