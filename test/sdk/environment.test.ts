import { expect, test } from 'vitest';
import { buildEnvironment, type Environment, PROTOCOL_OF } from '../../src/sdk/environment.ts';
import type { Options } from '../../src/sdk/options.ts';

const OWN = {
  CLAUDE_AGENT_SDK_VERSION: PROTOCOL_OF,
  CLAUDE_CODE_ENTRYPOINT: 'sdk-ts',
  CLAUDE_CODE_SDK_READS_SESSION_STATE: '1',
};

const ROWS: readonly (readonly [name: string, options: Options, inherited: Environment, env: Environment])[] =
  [
    ['nothing', {}, {}, OWN],
    ['what is inherited', {}, { A: '1', B: undefined }, { ...OWN, A: '1' }],
    [
      'the option instead of what is inherited (C32)',
      { env: { B: '2', C: undefined } },
      { A: '1' },
      { ...OWN, B: '2' },
    ],
    [
      'an entry point that is set already',
      {},
      { CLAUDE_CODE_ENTRYPOINT: 'cli' },
      { ...OWN, CLAUDE_CODE_ENTRYPOINT: 'cli' },
    ],
    ['an inherited version is replaced', {}, { CLAUDE_AGENT_SDK_VERSION: 'x' }, OWN],
    [
      'a version in the option is kept',
      { env: { CLAUDE_AGENT_SDK_VERSION: 'x' } },
      {},
      { ...OWN, CLAUDE_AGENT_SDK_VERSION: 'x' },
    ],
    ['what would disturb a node process is taken out', {}, { NODE_OPTIONS: '--inspect', DEBUG: '*' }, OWN],
    [
      'debugging of the agent',
      { env: { DEBUG_CLAUDE_AGENT_SDK: '1' } },
      {},
      { ...OWN, DEBUG_CLAUDE_AGENT_SDK: '1', DEBUG: '1' },
    ],
    ['limits of the agent pass', {}, { MAX_MCP_OUTPUT_TOKENS: '5' }, { ...OWN, MAX_MCP_OUTPUT_TOKENS: '5' }],
    [
      'checkpoints',
      { enableFileCheckpointing: true },
      {},
      { ...OWN, CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: 'true' },
    ],
    ['no checkpoints', { enableFileCheckpointing: false }, {}, OWN],
    [
      'the preview format',
      { toolConfig: { askUserQuestion: { previewFormat: 'html' } } },
      {},
      { ...OWN, CLAUDE_CODE_QUESTION_PREVIEW_FORMAT: 'html' },
    ],
    ['no preview format', { toolConfig: {} }, {}, OWN],
  ];

test.each(ROWS)('%s', (_, options, inherited, env) => {
  expect(buildEnvironment(options, inherited)).toEqual(env);
});

test('neither the option nor what is inherited is changed', () => {
  const option = { DEBUG: 'x' };
  const inherited = { NODE_OPTIONS: 'y' };
  buildEnvironment({ env: option }, {});
  buildEnvironment({}, inherited);
  expect([option, inherited]).toEqual([{ DEBUG: 'x' }, { NODE_OPTIONS: 'y' }]);
});
