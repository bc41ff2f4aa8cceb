import { describe, expect, test } from 'vitest';
import type { HostHandlers } from '../../../src/entry/host.ts';
import type { Question } from './fixtures/tools.ts';
import { able } from './support/cannot.ts';
import { eventOf, KEY, outcomeOf, pair, textOf } from './support/drive.ts';

const ANSWERS: Record<Question, Record<string, unknown>> = {
  elicitation: { action: 'accept', content: { colour: 'blue' } },
  sampling: { role: 'assistant', model: 'rehearsed', content: { type: 'text', text: 'word' } },
  roots: { roots: [{ uri: 'file:///project', name: 'project' }] },
};
const QUESTIONS = Object.keys(ANSWERS) as Question[];

describe.concurrent.each(able('server asks'))('a server over $name that asks', (setUp) => {
  test('is answered by the handlers of who made the host', async () => {
    const asked: [string, Record<string, unknown>, string][] = [];
    const handlers: HostHandlers = {
      elicitation: async (params, { server }) => {
        asked.push(['elicitation', params, server]);
        return ANSWERS.elicitation;
      },
      sampling: async (params, { server }) => {
        asked.push(['sampling', params, server]);
        return ANSWERS.sampling;
      },
      roots: async () => [{ uri: 'file:///project', name: 'project' }],
    };
    await using both = await pair(setUp, { handlers });
    for (const question of QUESTIONS) {
      const answer = textOf(await both.host.callTool(KEY, 'ask', { question }));
      expect(JSON.parse(answer ?? ''), question).toEqual(ANSWERS[question]);
    }
    expect(asked).toMatchObject([
      ['elicitation', { message: 'Which colour?', requestedSchema: { required: ['colour'] } }, KEY],
      ['sampling', { maxTokens: 10, messages: [{ role: 'user', content: { text: 'Say a word' } }] }, KEY],
    ]);
  });

  test('is refused where there is no handler, and nothing else comes of it', async () => {
    await using both = await pair(setUp, { handlers: { roots: [] } });
    const refused = await Promise.all(
      (['elicitation', 'sampling'] as const).map((question) =>
        outcomeOf(both.host.callTool(KEY, 'ask', { question })),
      ),
    );
    expect(refused).toEqual([FAILED, FAILED]);
    const { text } = await outcomeOf(both.host.callTool(KEY, 'ask', { question: 'roots' }));
    expect(JSON.parse(text)).toEqual({ roots: [] });
    expect(both.host.status()[KEY]?.state).toBe('connected');
  });

  test('hears of a handler that fails, in its words', async () => {
    const elicitation = () => Promise.reject(new Error('no user is available'));
    await using both = await pair(setUp, { handlers: { elicitation } });
    const outcome = await outcomeOf(both.host.callTool(KEY, 'ask', { question: 'elicitation' }));
    expect(outcome).toEqual({ isError: true, text: expect.stringContaining('no user is available') });
    expect(textOf(await both.host.callTool(KEY, 'echo', { text: 'next' }))).toBe('next');
  });
});

describe.concurrent.each(able('lists'))('a server over $name that tells', (setUp) => {
  test('of another tool has it listed, and it can be called', async () => {
    await using both = await pair(setUp);
    const { host } = both;
    const told = eventOf(host, (event) => event.type === 'tools' && event.server === KEY);
    await host.callTool(KEY, 'grow', { name: 'fresh' });
    await told;
    expect((await host.listTools()).map(({ name }) => name)).toContain('fresh');
    expect(textOf(await host.callTool(KEY, 'fresh'))).toBe('fresh');
  });

  test('logs below the level of the host are not reported', async () => {
    await using both = await pair(setUp, { logLevel: 'error' });
    const { host } = both;
    const logs: string[] = [];
    host.events.on((event) => event.type === 'log' && logs.push(String(event.entry.data)));
    await host.callTool(KEY, 'log', { text: 'quiet' });
    await host.setLogLevel('info');
    const heard = eventOf(host, (event) => event.type === 'log');
    await host.callTool(KEY, 'log', { text: 'loud' });
    await heard;
    expect(logs).toEqual(['loud']);
  });

  test('what it does is heard as it logs', async () => {
    await using both = await pair(setUp);
    const { host } = both;
    const heard = eventOf(host, (event) => event.type === 'log');
    await host.callTool(KEY, 'log', { text: 'all is well' });
    expect(await heard).toMatchObject({
      type: 'log',
      server: KEY,
      entry: { level: 'info', data: 'all is well' },
    });
  });
});

const FAILED = { isError: true, text: expect.stringMatching(/./) };
