import { expect, test } from 'vitest';
import { text } from '../../../src/agent/models/scripted.ts';
import { parseRule, type Rule } from '../../../src/permissions/rule.ts';
import { collect } from '../../support/collect.ts';
import { calc, drive } from '../../support/drive.ts';

const deny = (...rules: string[]): Rule[] =>
  rules.flatMap((rule) => {
    const parsed = parseRule(rule, 'deny', 'cliArg');
    return parsed.ok ? [parsed.rule] : [];
  });

test('a deny rule about no tool of any server is told, once; one that protects is not', async () => {
  const notes: string[] = [];
  const { query } = drive(
    [text('ok')],
    { mcpServers: { calc: calc() } },
    { rules: deny('mcp__calc__boom', 'mcp__calk__add'), note: (it) => void notes.push(it) },
  );
  await collect(query);
  expect(notes).toEqual(['deny rule "mcp__calk__add" of cliArg matches no known tool: check its spelling']);
});

test('while a server is still to come, nothing is told', async () => {
  const notes: string[] = [];
  const { query } = drive(
    [text('ok')],
    {},
    {
      servers: { later: { command: 'x', start: 'on-demand' } },
      rules: deny('mcp__later__x'),
      note: (it) => void notes.push(it),
    },
  );
  await collect(query);
  expect(notes).toEqual([]);
});
