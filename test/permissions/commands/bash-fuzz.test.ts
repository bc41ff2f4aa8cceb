import { expect, test } from 'vitest';
import { evidenceOf, fuzzBash, isAllowed } from './bash-fuzz.ts';

test.each([1, 2])(
  'random commands that rules allow do nothing that rules forbid: seed %i (npm run fuzz draws other seeds)',
  async (seed) => {
    const { executed, breaches } = await fuzzBash({ count: 500, seed });
    expect(breaches, `npm run fuzz -- --seed ${seed}`).toEqual([]);
    expect(executed).toBeGreaterThan(100);
  },
  300_000,
);

test.each([
  ['allow', 'git log; touch PWNED'],
  ['allow', 'git push'],
  ['allow', "git log # '\ntouch PWNED\n# '"],
  ['allow', 'echo a > PWNED'],
  ['allow', 'printf -v PATH . ; ls'],
  ['allow', 'export PATH=. && ls'],
  ['reads', 'find . -delete'],
  ['reads', 'sort -o PWNED f'],
  ['reads', 'sed -n 1wPWNED f'],
  ['reads', 'sort f | uniq f PWNED'],
  ['reads', 'PATH=. ls'],
  ['deny', '{ bash; } <<< "rm f"'],
  ['deny', 'rm f'],
  ['deny', 'bash -c "rm f"'],
  ['deny', 'echo f | xargs rm'],
  ['deny', 'FOO="a b" rm f'],
] as const)('the sandbox notices what %s rules forbid: %j', async (rules, command) => {
  expect(await evidenceOf(rules, command)).toBeDefined();
  expect(isAllowed(rules, command)).toBe(false);
});

test.each([
  ['allow', 'git log --oneline'],
  ['allow', 'echo "a # b" | grep x'],
  ['deny', 'touch a && ls'],
  ['reads', 'find . -name "*" | sort -u && cat f'],
] as const)('the sandbox has nothing against %s: %j', async (rules, command) => {
  expect(await evidenceOf(rules, command)).toBeUndefined();
  expect(isAllowed(rules, command)).toBe(true);
});
