import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandParts } from '../../../src/host/permission/command-parts.ts';
import { matchesCall } from '../../../src/host/permission/match.ts';
import { bash, rule, WORKSPACE } from './situation.ts';

const isDenied = (content: string, command: string) =>
  matchesCall(rule(`Bash(${content})`, 'deny'), bash(command), WORKSPACE);

test.each([
  'sudo -u root rm x',
  'doas -u root rm x',
  'env -u A rm x',
  'env -S "rm x"',
  'env -Srm x',
  'timeout -s KILL 5 rm x',
  'exec -a n rm x',
  'bash -O extglob -c "rm x"',
  'xargs -I @ rm @',
  'xargs -a list rm',
  'find . -exec rm x \\;',
  'find . -exec sh -c \'rm "$1"\' _ {} +',
  'busybox rm x',
  'coproc rm x',
  'trap "rm x" EXIT',
  'su -c "rm x"',
  "su --command='rm x'",
  "su -c'rm x'",
  'flock l rm x',
  'ionice -c 3 rm x',
  'watch rm x',
  'strace rm x',
  'parallel rm ::: x',
  'r$()m x',
  'r``m x',
  'r$'.concat('{nothing}m x'),
  'r$@m x',
  "$'rm' x",
  '{rm,x}',
  'rm$'.concat('{IFS%?}x'),
  'nohup rm x',
  'setsid rm x',
  'nice -n 5 rm x',
  'stdbuf -o0 rm x',
  'chroot / rm x',
  'eval "rm x"',
  'command rm x',
  '\\rm x',
  "'rm' x",
  '/bin/rm x',
  '"/usr/bin/sudo" -u root /bin/rm x',
  'bash -c "bash -c \\"echo; rm x\\""',
  'alias ll="rm x"',
])('deny rm * of %j', (command) => {
  expect(isDenied('rm *', command)).toBe(true);
});

test.each([
  ['rm x', 'trap "rm x" EXIT'],
  ['rm x', 'bash -c "rm x" name'],
  ['rm x', `bash -c 'bash -c "rm x" name' name`],
  ['rm "x y"', 'sudo -u root rm "x y"'],
  ['ls && pwd', 'sudo ls && pwd'],
])('deny %s of %j', (content, command) => {
  expect(isDenied(content, command)).toBe(true);
});

test.each([
  'echo rm x',
  'git rm x',
  'git commit -m "rm x"',
  'timeout 5 npm test && git rm x',
  'rmdir x',
  'ls rm',
])('not rm *: %j', (command) => {
  expect(isDenied('rm *', command)).toBe(false);
});

describe('a wrapper in front', () => {
  const piece = fc.constantFrom(
    ...[
      'rm',
      'x',
      'ls',
      '/bin/rm',
      'git',
      '-f',
      'A=1',
      '5',
      '"x y"',
      "'rm x'",
      'sudo',
      'bash -c',
      'echo',
      '\\',
    ],
    ...[';', '&&', '|', '>log', '$(', ')', '`', '"', "'", '{', '}', '\n', '$a', '\\\n', '*', '$IFS'],
  );
  const commands = fc
    .array(fc.tuple(piece, fc.constantFrom(' ', '', '  ')), { minLength: 1, maxLength: 8 })
    .map((pieces) => pieces.map((it) => it.join('')).join(''));
  const contents = fc.constantFrom('rm *', 'rm:*', 'rm x', 'rm', 'ls && rm x', 'git * x', '* x', 'sudo *');
  const wrappers = fc.constantFrom(
    ...['sudo -u root', 'doas -u root', 'env -u A', 'env A=1', 'timeout -s KILL 5', 'exec -a n', 'nice -n 5'],
    ...[
      'xargs -I @',
      'find . -exec',
      'flock l',
      'ionice -c 3',
      'chroot /',
      '/usr/bin/sudo',
      '"env"',
      'A=1',
      'if !',
    ],
  );

  test('never turns a denied command into one that is not', () => {
    fc.assert(
      fc.property(
        fc.array(wrappers, { minLength: 1, maxLength: 3 }),
        commands,
        contents,
        (front, it, content) => {
          fc.pre(isDenied(content, it));
          expect(isDenied(content, `${front.join(' ')} ${it}`)).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('that takes the command as one word does not either', () => {
    const takers = fc.constantFrom(
      'bash -O extglob -c',
      'eval',
      'su root -c',
      'trap',
      'watch -n 1',
      'ssh host',
    );
    const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
    fc.assert(
      fc.property(takers, commands, contents, (taker, it, content) => {
        fc.pre(isDenied(content, it));
        expect(isDenied(content, `${taker} ${quoted(it)} more`)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

test('a long command has no more parts than words, a few times over', () => {
  const words = 10_000;
  expect(commandParts(`bash -c "${'word '.repeat(words)}"`).length).toBeLessThan(words * 5);
});
