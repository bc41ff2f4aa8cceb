import { expect, test } from 'vitest';
import { text } from '../../../src/agent/models/scripted.ts';
import type { SessionOptions } from '../../../src/agent/session/session.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import { calc, drive, untilResult } from '../../support/drive.ts';

const AGENTS: NonNullable<Options['agents']> = {
  adder: {
    description: 'Adds',
    prompt: 'You add.',
    tools: ['mcp__calc'],
    disallowedTools: ['mcp__calc__boom'],
    model: 'small',
  },
};

async function ask(options: Options, host: Partial<SessionOptions>) {
  const notes: string[] = [];
  const { query, model } = drive(
    [text('hi'), text('hi')],
    { agents: AGENTS, mcpServers: { calc: calc() }, ...options },
    { agent: 'adder', builtIns: ['Read', 'Agent'], note: (it) => notes.push(it), ...host },
  );
  const messages = await untilResult(query);
  const init = messages.find((it) => it.type === 'system' && it.subtype === 'init');
  const [request] = model.requests;
  return {
    model: request?.model,
    system: request?.system,
    tools: request?.tools.map(({ name }) => name),
    init: init && 'model' in init && 'tools' in init && [init.model, init.tools],
    notes,
  };
}

test('prompt, tools and model of the agent apply to the conversation', async () => {
  expect(await ask({}, {})).toEqual({
    model: 'small',
    system: 'You add.',
    tools: ['mcp__calc__add'],
    init: ['small', ['mcp__calc__add']],
    notes: [],
  });
});

test.each<[string, Options, Partial<SessionOptions>, object]>([
  ['a requested model', {}, { isModelRequested: true }, { model: 'm', system: 'You add.' }],
  ['a system prompt', { systemPrompt: 'Mine.' }, {}, { model: 'small', system: 'Mine.' }],
  [
    'the preset with an addition',
    { systemPrompt: { type: 'preset', preset: 'claude_code', append: 'More.' } },
    {},
    { system: 'You add.\n\nMore.' },
  ],
  [
    'structured output',
    { outputFormat: { type: 'json_schema', schema: { type: 'object' } } },
    {},
    { tools: ['StructuredOutput', 'mcp__calc__add'] },
  ],
  ['the built-in kind', {}, { agent: 'general-purpose' }, { model: 'm', system: '', notes: [] }],
  [
    'an unknown agent',
    {},
    { agent: 'unknown' },
    { model: 'm', notes: ['--agent "unknown" is ignored: no agent with this name is defined'] },
  ],
])('%s', async (_, options, host, expected) => {
  expect(await ask(options, host)).toMatchObject(expected);
});
