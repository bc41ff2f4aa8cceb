import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { text, toolUse } from '../../../../src/agent/models/scripted.ts';
import { askElicitation } from '../../../../src/cli/chat/questions/elicitation.ts';
import type { CanUseTool, OnElicitation } from '../../../../src/sdk/options/options.ts';
import { toolServer } from '../../../../src/tool-server/sdk-server.ts';
import { answering } from '../../../cli/chat/support/asked.ts';
import { startStdio } from '../../../mcp/contract/support/start-stdio.ts';
import { PROCESSES } from '../../../mcp/contract/support/third-party-servers.ts';
import { collect } from '../../../support/collect.ts';
import { allow, drive, raw, results } from '../../../support/drive.ts';

/** The model calls a tool of the server once; completions for the server are `sampled`. */
const calling =
  (tool: string, input: object = {}) =>
  async ({ tools }: { tools: readonly unknown[] }, n: number) => {
    if (tools.length === 0) return text('sampled');
    return n === 1 ? toolUse(tool, input, 't1') : text('done');
  };

describe('sampling for @modelcontextprotocol/server-everything', () => {
  const sample = (canUseTool: CanUseTool | undefined, rules = allow('mcp__all')) =>
    drive(
      calling('mcp__all__trigger-sampling-request', { prompt: 'Name a color', maxTokens: 50 }),
      canUseTool ? { canUseTool } : {},
      { servers: { all: PROCESSES.everything }, rules, asksProgram: canUseTool !== undefined },
    );

  test('is shown to the person, who allows it', async () => {
    const asked: unknown[] = [];
    const { query, model } = sample(async (tool, input, { suggestions }) => {
      asked.push({ tool, input, suggestions });
      return { behavior: 'allow', updatedInput: input };
    });
    await collect(query);
    expect(asked).toEqual([
      {
        tool: 'Sampling',
        input: {
          server: 'all',
          messages: [
            {
              role: 'user',
              content: { type: 'text', text: expect.stringContaining('Name a color') },
            },
          ],
          systemPrompt: expect.any(String),
          maxTokens: 50,
        },
        suggestions: [
          {
            type: 'addRules',
            rules: [{ toolName: 'Sampling', ruleContent: 'all' }],
            behavior: 'allow',
            destination: 'session',
          },
        ],
      },
    ]);
    expect(results(model.requests.at(-1)).t1).toContain('sampled');
    expect(model.requests[1]?.maxTokens).toBe(50);
  });

  test('is rejected if the person denies it', async () => {
    const { query, model } = sample(async () => ({ behavior: 'deny', message: 'too expensive' }));
    await collect(query);
    expect(results(model.requests.at(-1)).t1).toContain('too expensive');
    expect(model.requests).toHaveLength(2);
  });

  test('needs no approval with a rule for the server', async () => {
    const rules = [...allow('mcp__all'), ...allow('Sampling(all)')];
    const { query, model } = sample(undefined, rules);
    await collect(query);
    expect(results(model.requests.at(-1)).t1).toContain('sampled');
  });

  test('is not offered if neither a person nor a rule can approve it', async () => {
    const { query, model } = sample(undefined);
    await collect(query);
    expect(results(model.requests.at(-1)).t1).toMatch(/No such tool|unknown|not/i);
    expect(model.requests[0]?.tools.map(({ name }) => name)).not.toContain(
      'mcp__all__trigger-sampling-request',
    );
  });
});

describe('elicitation for @modelcontextprotocol/server-everything', () => {
  const elicit = (onElicitation: OnElicitation) =>
    drive(
      calling('mcp__all__trigger-elicitation-request'),
      { onElicitation },
      { servers: { all: PROCESSES.everything }, rules: allow('mcp__all') },
    );

  test('reaches the program with every kind of field, and its answer the server', async () => {
    const asked: Parameters<OnElicitation>[0][] = [];
    const { query, model } = elicit(async (request) => {
      asked.push(request);
      return {
        action: 'accept',
        content: { name: 'Ada', check: true, integer: 7, untitledMultipleSelectEnum: ['Piano'] },
      };
    });
    await collect(query);
    expect(asked).toMatchObject([{ serverName: 'all', mode: 'form', message: expect.any(String) }]);
    const schemas = asked.map(({ requestedSchema }) => requestedSchema) as {
      properties: Record<string, { type: string }>;
    }[];
    const fields = schemas.flatMap(({ properties }) => Object.values(properties));
    expect(new Set(fields.map(({ type }) => type))).toEqual(
      new Set(['string', 'boolean', 'integer', 'number', 'array']),
    );
    expect(results(model.requests.at(-1)).t1).toMatch(/"action": "accept".*"name": "Ada".*"integer": 7/s);
  });

  test('is answered in the chat with the defaults of every field', async () => {
    const person = answering('Ada', ...Array<string>(20).fill(''));
    const { query, model } = elicit(
      (request) => askElicitation(request, person) as ReturnType<OnElicitation>,
    );
    await collect(query);
    const { t1 } = results(model.requests.at(-1));
    const answer = JSON.parse(/Raw result: (.*)$/s.exec(t1 ?? '')?.[1] ?? '{}');
    expect(answer).toMatchObject({
      action: 'accept',
      content: {
        name: 'Ada',
        firstLine: 'It was a dark and stormy night.',
        integer: 42,
        number: 3.14,
        untitledSingleSelectEnum: 'Monica',
        untitledMultipleSelectEnum: ['Guitar'],
        titledSingleSelectEnum: 'hero-1',
        titledMultipleSelectEnum: ['fish-1'],
        legacyTitledEnum: 'pet-1',
      },
    });
  });

  test.each(['decline', 'cancel'] as const)(
    'that the person answers with %s is answered so',
    async (action) => {
      const { query, model } = elicit(async () => ({ action }));
      await collect(query);
      expect(results(model.requests.at(-1)).t1).toContain(`"action": "${action}"`);
    },
  );
});

describe.each(['legacy', 'modern'] as const)('requests of a %s server', (era) => {
  test('reach the person: sampling and elicitation', async () => {
    await using far = await startStdio(era);
    const asked: string[] = [];
    const canUseTool: CanUseTool = async (tool, input) => {
      asked.push(tool);
      return { behavior: 'allow', updatedInput: input };
    };
    const onElicitation: OnElicitation = async ({ serverName, message }) => {
      asked.push(`${serverName}: ${message}`);
      return { action: 'accept', content: { colour: 'green' } };
    };
    const { query, model } = drive(
      async ({ tools }, n) => {
        if (tools.length === 0) return text('a word');
        const question = n === 1 ? 'elicitation' : 'sampling';
        return n <= 2 ? toolUse('mcp__far__ask', { question }, `t${n}`) : text('done');
      },
      { canUseTool, onElicitation },
      { servers: { far: far.entry as never }, rules: allow('mcp__far') },
    );
    await collect(query);
    expect(asked).toEqual(['far: Which colour?', 'Sampling']);
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/green.*a word/s);
  });
});

test('roots are the working directories, and servers are notified of changes', async () => {
  const { ask, session, find, send } = raw(
    async (_, n) => (n % 2 === 1 ? toolUse('mcp__all__get-roots-list', {}, `t${n}`) : text('ok')),
    {
      servers: { all: PROCESSES.everything },
      rules: allow('mcp__all'),
      workspace: { cwd: '/w', home: '/h', directories: ['/extra'] },
    },
  );
  await session.servers.ready();
  await ask('initialize');
  const rootsOf = async (n: number) => {
    await send({ type: 'user', message: { role: 'user', content: 'roots?' } });
    await find(({ type }) => type === 'result', n);
    return JSON.stringify(session.conversation.messages);
  };
  const first = await rootsOf(1);
  expect(first).toContain(pathToFileURL('/w').href);
  expect(first).toContain(pathToFileURL('/extra').href);
  await session.context.rules.apply([
    { type: 'addDirectories', directories: ['/later'], destination: 'session' },
  ]);
  await expect.poll(() => rootsOf(2), { timeout: 5_000 }).toContain(pathToFileURL('/later').href);
});

describe('log messages of servers', () => {
  test('of the requested level reach the program', async () => {
    await using far = await startStdio('modern');
    const call = async (_: unknown, n: number) =>
      n === 1 ? toolUse('mcp__far__log', { text: 'all is well' }, 't1') : text('done');
    const host = { servers: { far: far.entry as never }, rules: allow('mcp__far') };
    const messages = await collect(drive(call, {}, { ...host, serverLogLevel: 'info' }).query);
    expect(messages).toContainEqual(
      expect.objectContaining({ subtype: 'mcp_log', server: 'far', level: 'info', data: 'all is well' }),
    );
    const quiet = await collect(drive(call, {}, host).query);
    expect(JSON.stringify(quiet)).not.toContain('mcp_log');
  });

  test('of a server that sends too many are limited', async () => {
    const chatty = toolServer('chatty', { logging: true }).tool('run', '', {}, (_, ctx) => {
      for (let n = 0; n < 500; n++) ctx.log('error', `line ${n}`);
      return 'ran';
    });
    const { query } = drive(
      async (_, n) => (n === 1 ? toolUse('mcp__chatty__run', {}, 't1') : text('done')),
      { mcpServers: { chatty } },
      { rules: allow('mcp__chatty'), serverLogLevel: 'error' },
    );
    const logs = (await collect(query)).filter((it) => (it as { subtype?: string }).subtype === 'mcp_log');
    expect(logs.length).toBeGreaterThan(0);
    expect(logs.length).toBeLessThanOrEqual(11);
  });
});
