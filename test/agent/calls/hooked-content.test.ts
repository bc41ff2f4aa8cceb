import { expect, test } from 'vitest';
import { hookedContent } from '../../../src/agent/calls/hooked-content.ts';
import { PNG, sourceWith } from '../results/sources.ts';

const text = (it: string) => ({ type: 'text', text: it });
const data = PNG.toString('base64');
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
const long = 'x'.repeat(200_000);

test.each<[string, unknown, boolean, unknown]>([
  ['a text', 'changed', false, 'changed'],
  ['a long text is its affair', [text(long)], false, [text(long)]],
  ['any data', { x: 1 }, false, '{"x":1}'],
  ['no blocks', [], false, '[]'],
  ['a result with a text', { content: 'so' }, false, 'so'],
  [
    'images in either form',
    [image, { type: 'image', data }],
    false,
    [image, image, text('[Image: source: /saved/1.png]')],
  ],
  ['an empty block', [text('')], false, [text('(mcp__r__t completed with no output)')]],
  [
    'images in place of a failure',
    [text('no'), image, { type: 'image', data }],
    true,
    [text('no'), text('[Image]'), text('[Image: source: /saved/1.png] It is not shown: the call failed.')],
  ],
])('%s', async (_, value, isError, expected) => {
  expect(await hookedContent(value, { isError }, sourceWith())).toEqual(expected);
});
