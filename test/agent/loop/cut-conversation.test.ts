import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateTokens } from '../../../src/agent/loop/context-usage.ts';
import {
  cutConversation,
  shortenResults,
  shortenText,
  summaryBlock,
} from '../../../src/agent/loop/cut-conversation.ts';
import type { ModelMessage } from '../../../src/agent/models/model.ts';
import { joinTurns } from '../../../src/agent/models/sanitize-request.ts';
import { answered, called, conversations, faultsOf, replied, said } from './conversations.ts';

describe('compact cut', () => {
  const turn = (n: number) => [
    said(`ask ${n}`),
    called(`c${n}`),
    answered({ [`c${n}`]: `got ${n}` }),
    replied(`did ${n}`),
  ];
  const TURN = estimateTokens({ messages: turn(1) });

  test.each([
    ['everything', 3 * TURN, undefined],
    ['two turns', 3 * TURN - 1, 1],
    ['two turns', 2 * TURN, 1],
    ['one turn', 2 * TURN - 1, 2],
    ['one turn', TURN, 2],
  ])('%s is kept of three with room for %i', (_, room, from) => {
    const messages = [...turn(1), ...turn(2), ...turn(3)];
    expect(cutConversation(messages, room)).toEqual(
      from === undefined
        ? undefined
        : {
            head: messages.slice(0, from * 4),
            prompt: messages[from * 4]?.content,
            rest: messages.slice(from * 4 + 1),
            droppedCount: from * 4,
          },
    );
  });

  test('shortens the results of an oversized turn, the oldest first', () => {
    const large = 'x'.repeat(8000);
    const messages = [
      ...turn(1),
      said('go'),
      called('a'),
      answered({ a: large }),
      called('b'),
      answered({ b: large }),
    ];
    const found = cutConversation(messages, 3000);
    expect(found?.head).toEqual(turn(1));
    const [, first, , second] = found?.rest ?? [];
    expect(JSON.stringify(first)).toContain('6400 characters omitted');
    expect(second).toEqual(answered({ b: large }));
  });

  test('drops older rounds of the turn if shortening is not enough, and keeps its prompt', () => {
    const rounds = Array.from({ length: 20 }, (_, n) => [
      called(`c${n}`),
      answered({ [`c${n}`]: 'x'.repeat(800) }),
    ]);
    const messages = [said('the task'), ...rounds.flat()];
    expect(cutConversation(messages, 600)).toEqual({
      head: messages.slice(0, -4),
      prompt: said('the task').content,
      rest: messages.slice(-4),
      droppedCount: messages.length - 5,
    });
  });

  test('always keeps one round', () => {
    const messages = [said('the task'), called('a'), answered({ a: 'A' }), called('b'), answered({ b: 'B' })];
    expect(cutConversation(messages, 0)).toMatchObject({
      head: messages.slice(0, 3),
      rest: messages.slice(3),
    });
  });

  test('a prompt beside results keeps the results with their calls', () => {
    const results = answered({ a: 'A' });
    const mixed = { role: 'user', content: [...results.content, ...said('next').content] } as ModelMessage;
    const messages = [said('first'), called('a'), mixed, replied('ok')];
    expect(cutConversation(messages, 20)).toEqual({
      head: [said('first'), called('a'), results],
      prompt: said('next').content,
      rest: [replied('ok')],
      droppedCount: 2,
    });
  });

  test('tagged text of the host is not a prompt', () => {
    const results = answered({ a: 'A' });
    const added = { type: 'text' as const, text: '<hook>mind the gap</hook>' };
    const mixed = { role: 'user', content: [...results.content, added] } as ModelMessage;
    const messages = [...turn(1), said('task'), called('a'), mixed, called('b'), answered({ b: 'B' })];
    expect(cutConversation(messages, 0)).toMatchObject({
      head: messages.slice(0, 7),
      prompt: said('task').content,
    });
  });

  test('an earlier summary is not a prompt and is cut with its part', () => {
    const first = { role: 'user', content: [summaryBlock('old'), ...said('task').content] } as ModelMessage;
    const messages = [first, called('a'), answered({ a: 'A' }), called('b'), answered({ b: 'B' })];
    expect(cutConversation(messages, 0)).toMatchObject({
      head: messages.slice(0, 3),
      prompt: said('task').content,
    });
  });

  test('an earlier summary is kept if nothing else is dropped', () => {
    const first = { role: 'user', content: [summaryBlock('old'), ...said('task').content] } as ModelMessage;
    const messages = [first, called('a'), answered({ a: 'x'.repeat(9000) })];
    expect(cutConversation(messages, 0)).toMatchObject({ head: [], prompt: first.content, droppedCount: 0 });
  });

  test('both parts of a cut are valid conversations', () => {
    fc.assert(
      fc.property(conversations, fc.nat({ max: 6000 }), (messages, room) => {
        const found = cutConversation(messages, room);
        if (!found) return;
        expect(faultsOf(found.head)).toEqual([]);
        expect(faultsOf([{ role: 'user', content: found.prompt }, ...found.rest])).toEqual([]);
      }),
    );
  });
});

describe('compact join', () => {
  test('consecutive prompts are joined into one', () => {
    expect(joinTurns([said('a'), said('b'), replied('c'), said('d')])).toEqual([
      { role: 'user', content: [...said('a').content, ...said('b').content] },
      replied('c'),
      said('d'),
    ]);
  });

  test('consecutive replies are not joined', () => {
    const messages = [said('a'), replied('b'), replied('c')];
    expect(joinTurns(messages)).toEqual(messages);
  });
});

describe('compact shorten', () => {
  test.each([
    ['a short text stays', 'abcdef', 'abcdef'],
    ['one that would save next to nothing stays', 'x'.repeat(25), 'x'.repeat(25)],
    [
      'the middle of a long one goes',
      `${'a'.repeat(10)}${'b'.repeat(90)}${'c'.repeat(10)}`,
      `${'a'.repeat(10)}\n[… 90 characters omitted to save context …]\n${'c'.repeat(10)}`,
    ],
  ])('%s', (_, text, shorter) => {
    expect(shortenText(text, 10)).toBe(shorter);
  });

  test('a surrogate pair is never split', () => {
    expect(shortenText(`x${'😀'.repeat(60)}`, 10).isWellFormed()).toBe(true);
  });

  test('a short text is unchanged', () => {
    const messages = [called('a'), answered({ a: 'x'.repeat(9000) })];
    expect(shortenResults(messages, 5000)).toEqual(messages);
  });

  test('user text is never shortened, and an error result stays an error', () => {
    const long = 'x'.repeat(9000);
    const image = { type: 'image' as const, source: {} };
    const failed: ModelMessage = {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'a',
          is_error: true,
          content: [{ type: 'text', text: long }, image],
        },
        { type: 'tool_result', tool_use_id: 'b' },
        ...(said(long).content as { type: 'text'; text: string }[]),
      ],
    };
    expect(shortenResults([failed], 0)).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            is_error: true,
            content: [
              { type: 'text', text: shortenText(long, 800) },
              { type: 'text', text: '[image omitted to save context]' },
            ],
          },
          { type: 'tool_result', tool_use_id: 'b' },
          ...said(long).content,
        ],
      },
    ]);
  });
});
