import { expect, test } from 'vitest';
import { commandPrefix, subcommandPrefix } from '../../../src/permissions/commands/command-prefix.ts';

test.each<[string, string | undefined]>([
  ['git log --oneline', 'git log'],
  ['npm run test -- --watch', 'npm run test'],
  ['npm run test', undefined],
  ['npm exec tsc -- --noEmit', 'npm exec tsc'],
  ['docker compose up -d', 'docker compose up'],
  ['docker run --rm image', undefined],
  ['cargo run --release', undefined],
  ['ls -la src', 'ls'],
  ['ls', undefined],
  ['cat notes.txt | head', undefined],
  ['ls; rm -rf x', undefined],
  ['echo $(id)', undefined],
  ['git -c core.pager=x log', undefined],
  ['rm -rf build', undefined],
  ['bash -c x', undefined],
  ['env A=1 ls', undefined],
  ['./build.sh --fast', undefined],
])('the prefix of %j is %j', (command, prefix) => {
  expect(commandPrefix(command)).toBe(prefix);
});

test.each<[string, string | undefined]>([
  ['git add .', 'git add'],
  ['npm install foo', 'npm install'],
  ['ls -la src', undefined],
  ['npm test', undefined],
])('the subcommand of %j is %j', (command, prefix) => {
  expect(subcommandPrefix(command)).toBe(prefix);
});
