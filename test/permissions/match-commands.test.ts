import { describe, expect, test } from 'vitest';
import { decide } from '../../src/permissions/decide.ts';
import { matchesCall } from '../../src/permissions/match.ts';
import { bash, rule, situation, WORKSPACE } from './situation.ts';

const matches = (text: string, effect: 'allow' | 'deny' | 'ask', call: Parameters<typeof matchesCall>[1]) =>
  matchesCall(rule(text, effect), call, WORKSPACE);

test.each([
  ['git log:*', 'git log', true],
  ['git log:*', 'git log --oneline', true],
  ['git log:*', 'git logs', false],
  ['npm run *', 'npm run test', true],
  ['npm run *', 'npm run', true],
  ['npm run *', 'npm runner', false],
  ['git * main', 'git push main', true],
  ['ls', 'ls', true],
  ['ls', 'ls -l', false],
  ['ls && pwd', 'ls && pwd', true],
  ['git commit:*', `git commit -m 'a; b | c $(d)'`, true],
  ['git commit:*', 'git commit -m "a; b"', true],
  ['git log:*', 'git log && rm -rf /', false],
  ['git log:*', 'git log; rm x', false],
  ['git log:*', 'git log | sh', false],
  ['git log:*', 'git log & rm x', false],
  ['git log:*', 'git log\nrm x', false],
  ['git log:*', 'git log\rrm x', false],
  ['git log:*', 'git log \\\nrm x', false],
  ['git log:*', 'git log $(rm x)', false],
  ['git log:*', 'git log "$(rm x)"', false],
  ['git log:*', 'git log `rm x`', false],
  ['git log:*', 'git log "`rm x`"', false],
  ['git log:*', `git log \${x:=y}`, false],
  ['git log:*', 'git log > ~/.bashrc', false],
  ['git log:*', 'git log <(rm x)', false],
  ['git log:*', `git log "it's"; rm x`, false],
  ['git log:*', `git log $'a\\'; rm x; '`, false],
  ['git log:*', 'git log "open', false],
  ['git log:*', 'X=1 git log', false],
  ['*', 'ls; rm x', true],
])('allow %s of %j: %s', (content, command, expected) => {
  expect(matches(`Bash(${content})`, 'allow', bash(command))).toBe(expected);
});

test.each([
  ['rm x', true],
  ['ls && rm x', true],
  ['ls;rm x', true],
  ['ls | rm x', true],
  ['ls & rm x', true],
  ['ls\nrm x', true],
  ['echo $(rm x)', true],
  ['echo "`rm x`"', true],
  ['(rm x)', true],
  ['{ rm x; }', true],
  ['cat <(rm x)', true],
  ['A=1 B=2 rm x', true],
  ['sudo -n rm x', true],
  ['timeout 5s rm x', true],
  ['bash -c "rm x"', true],
  ['if true; then rm x; fi', true],
  ['>log rm x', true],
  ['/bin/rm x', true],
  ['r"m" x', true],
  ['\\rm x', true],
  ['r\\\nm x', true],
  [`rm\${IFS}x`, true],
  ['  rm   x', true],
  ['git rm x', false],
  ['echo rm x', false],
  ['rmdir x', false],
])('deny rm:* of %j: %s', (command, expected) => {
  expect(matches('Bash(rm:*)', 'deny', bash(command))).toBe(expected);
  expect(matches('Bash(rm:*)', 'ask', bash(command))).toBe(expected);
});

describe('a command that sets variables of the shell, joined with another', () => {
  const decision = (command: string, ...contents: string[]) =>
    decide(situation(bash(command), { rules: contents.map((it) => rule(`Bash(${it})`, 'allow')) })).kind;

  test.each([
    'printf -v PATH . && ls',
    'printf -vPATH . ; ls',
    'printf "-v" PATH . | ls',
    'echo v; printf -$_ PATH . ; ls',
    'echo -v; printf "$_" PATH . ; ls',
    'printf * ; ls',
    'export PATH=. && ls',
    'read PATH </dev/null; ls',
    'unset PATH; ls',
    "alias ls='touch x'; ls",
    'hash -p ./x ls; ls',
  ])('is not allowed by patterns: %j', (command) => {
    const contents = 'printf *,echo *,export *,read *,unset *,alias *,hash *,ls *'.split(',');
    expect(decision(command, ...contents)).toBe('ask');
  });

  test.each([
    ['printf -v x y', 'printf *'],
    ['export A=1', 'export *'],
    ['printf "%s\\n" a; ls', 'printf *,ls'],
    ['printf -- a; ls', 'printf *,ls'],
    ['source .venv/bin/activate && pytest -q', 'source .venv/bin/activate,pytest *'],
    ['command -v node && ls', 'command -v *,ls'],
  ])('is allowed alone, or by its exact text: %j', (command, contents) => {
    expect(decision(command, ...contents.split(','))).toBe('allow');
  });
});
