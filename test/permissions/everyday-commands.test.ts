import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandEffect } from '../../src/permissions/commands/command-effect.ts';
import { decide } from '../../src/permissions/decide.ts';
import { bash, rule, situation } from './situation.ts';

const RULES = [
  ...['git log *', 'git status *', 'git diff *', 'git show *', 'git add *', 'git commit *', 'npm test *'].map(
    allow,
  ),
  ...[
    'npm run *',
    'ls *',
    'cat *',
    'grep *',
    'rg *',
    'echo *',
    'find *',
    'head *',
    'tail *',
    'wc *',
    'sort *',
  ].map(allow),
  ...[
    'node *',
    'npx tsc *',
    'jq *',
    'sed -n *',
    'cd *',
    'pwd',
    'make',
    'printf *',
    'test *',
    'cargo test:*',
  ].map(allow),
  ...['rm *', 'git push *', 'curl *', 'sudo *', 'dd *'].map((content) => rule(`Bash(${content})`, 'deny')),
  ...['npm publish *', 'git rebase *'].map((content) => rule(`Bash(${content})`, 'ask')),
];

function allow(content: string) {
  return rule(`Bash(${content})`, 'allow');
}

/** One row per line: the decision, padded to six characters, and the command with `⏎` for a newline. */
const ROWS = readFileSync(new URL('everyday-commands.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => [line.slice(0, 6).trim(), line.slice(6).replaceAll('⏎', '\n')] as const);

test.each(ROWS)('%s: %j', (expected, command) => {
  const { edits } = commandEffect(command) ?? {};
  const effect = edits?.length === 0 ? ({ effect: 'reads' } as const) : {};
  expect(decide(situation(bash(command), { rules: RULES, ...effect })).kind).toBe(expected);
});

test('the table has at least 200 different commands', () => {
  expect(new Set(ROWS.map(([, command]) => command)).size).toBeGreaterThanOrEqual(200);
});
