import { expect, test } from 'vitest';
import { readAgents } from '../../src/cli/read-agents.ts';
import { jsonFile } from './json-file.ts';

const SCOUT = { scout: { description: 'Looks', prompt: 'Look.', tools: ['Read'] } };

test('a file or a text defines agents', () => {
  expect(readAgents(JSON.stringify(SCOUT))).toEqual(SCOUT);
  expect(readAgents(jsonFile(JSON.stringify(SCOUT)))).toEqual(SCOUT);
});

test.each([
  ['a file that is not there', () => 'no-such.json', /^--agents no-such\.json cannot be read: ENOENT/],
  ['a text that is no JSON', () => '{"a', /^--agents is no JSON: it ends too early$/],
  ['a list', () => jsonFile('[]'), /flag\.json: it must be an object of agents by name$/],
  ['no agent', () => '{"a":"x"}', /^--agents: agent "a" needs "description", a string$/],
  ['no prompt', () => '{"a":{"description":"x"}}', /^--agents: agent "a" needs "prompt", a string$/],
])('%s is named', (_, given, message) => {
  expect(() => readAgents(given())).toThrow(message);
});
