import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anthropicParams } from '../../../src/agent/models/anthropic-request.ts';
import type { ModelRequest } from '../../../src/agent/models/model.ts';
import { openAiParams } from '../../../src/agent/models/openai-request.ts';
import { sendable } from '../../../src/agent/models/sendable.ts';
import { wellFormed } from '../../../src/agent/models/well-formed.ts';
import { modelRequest, modelTool } from './requests.ts';

const HALF = 'a\uD83D';
const BUILDERS: [string, (request: ModelRequest) => unknown][] = [
  ['anthropic', anthropicParams],
  ['openai', (request) => openAiParams(request, 'max_tokens')],
];

test.each(BUILDERS)('%s: nowhere in a request is half a character', (_, build) => {
  const body = build(
    modelRequest({
      system: HALF,
      tools: [{ ...modelTool('t', { [HALF]: { description: HALF } }), description: HALF }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: HALF }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: HALF },
            { type: 'tool_use', id: 't1', name: 't', input: { [HALF]: [HALF] } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: HALF }] },
            { type: 'tool_result', tool_use_id: 't2', content: HALF },
          ],
        },
      ],
    }),
  );
  const written = JSON.stringify(body);
  expect(written).not.toMatch(/\\ud83d/i);
  expect(written.split('a\uFFFD')).toHaveLength(11);
});

test.each(BUILDERS)('%s: no more images than a request may hold', (_, build) => {
  const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
  const image = { type: 'image' as const, source };
  const content = Array.from({ length: 21 }, () => image);
  const body = JSON.stringify(build(modelRequest({ messages: [{ role: 'user', content }] })));
  expect(body.split('AAAA')).toHaveLength(12);
  expect(body.split('[An earlier image was left out]')).toHaveLength(11);
});

test('what is well-formed stays the same object, also in part', () => {
  const request = modelRequest({ tools: [modelTool('a'), modelTool('b', { x: { enum: [HALF] } })] });
  const { tools, messages, ...rest } = sendable(request);
  expect(rest).toEqual((({ tools: _, messages: __, ...others }) => others)(request));
  expect(messages).toBe(request.messages);
  expect(tools[0]).toBe(request.tools[0]);
  expect(tools[1]?.input_schema).toEqual({ type: 'object', properties: { x: { enum: ['a\uFFFD'] } } });
});

test('any data comes out well-formed and otherwise the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(wellFormed(value)).toBe(value);
      const strange = { [`${HALF}b`]: value, c: [value, HALF] };
      expect(wellFormed(strange)).toEqual({ 'a\uFFFDb': value, c: [value, 'a\uFFFD'] });
    }),
  );
});

test('very deep data does no harm', () => {
  const deep = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000));
  expect(wellFormed(deep)).toBe(deep);
});
