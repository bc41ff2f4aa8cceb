import { expect, test } from 'vitest';
import { readUserLine } from '../../../src/agent/session/user-line.ts';

const line = (content: unknown, more: object = {}) => ({
  type: 'user',
  message: { role: 'user', content },
  ...more,
});
const hi = { type: 'text', text: 'hi' };
const image = { type: 'image', source: { type: 'base64' } };

test.each([
  ['a text', line('hi'), [hi]],
  ['blocks', line([hi, image]), [hi, image]],
  [
    'blocks that are none beside good ones',
    line([null, hi, 7, { type: 'tool_use' }, { type: 'image' }]),
    [hi],
  ],
  ['a blank text', line(' \n'), []],
  ['no message', { type: 'user', message: 'hi' }, []],
])('%s', (_, frame, content) => {
  expect(readUserLine(frame)).toEqual({ content, uuid: undefined, wantsTurn: true });
});

test('its id, and whether it wants an answer', () => {
  expect(readUserLine(line('hi', { uuid: 'u', shouldQuery: false }))).toEqual({
    content: [hi],
    uuid: 'u',
    wantsTurn: false,
  });
  expect(readUserLine(line('hi', { uuid: 7, shouldQuery: 'no' }))).toMatchObject({
    uuid: undefined,
    wantsTurn: true,
  });
});

test.each([{}, { type: 'assistant', message: { content: 'hi' } }, { type: 7 }])(
  '%j is no line of a user',
  (frame) => {
    expect(readUserLine(frame)).toBeUndefined();
  },
);
