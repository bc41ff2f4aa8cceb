import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide } from '../../src/permissions/decide.ts';
import { matchCall } from '../../src/permissions/match.ts';
import { shellCommands } from '../../src/permissions/shell-command.ts';
import { bash, rule, situation, WORKSPACE } from './situation.ts';

const match = (content: string, command: string) =>
  matchCall(rule(`Bash(${content})`, 'deny'), bash(command), WORKSPACE).kind;
const isDenied = (content: string, command: string) => match(content, command) === 'yes';

const before = (wrapper: string) => `${wrapper} rm x`;

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
  ...['setarch x86_64', 'linux32', 'chronic', 'rlwrap', 'eatmydata', 'torsocks', 'proxychains4 -q'].map(
    before,
  ),
  ...['xvfb-run -a', 'dbus-run-session --', 'prlimit --nofile=9', 'choom -n 0 --', 'cpulimit -l 10 --'].map(
    before,
  ),
  ...['tini --', 'capsh -- -c', 'coreutils', 'gtimeout 5', 'genv -u A', 'gxargs -n 1', 'screen -dm'].map(
    before,
  ),
  ...[
    'npm exec --',
    'npx',
    'pnpm exec',
    'pnpm --filter a exec',
    'yarn exec',
    'uv run',
    'uv run --with y',
  ].map(before),
  ...['poetry run', 'pipenv run', 'conda run -n e', 'bundle exec', 'direnv exec .', 'mise exec n@2 --'].map(
    before,
  ),
  ...['cross-env A=1', 'dotenv -e .env --', 'op run --', 'perf stat -e x', 'git bisect run'].map(before),
  'git submodule foreach rm x',
  "git rebase -x 'rm x' main",
  "npx -c 'rm x'",
  "nix-shell -p y --run 'rm x'",
  "tmux send-keys -t a 'rm x' Enter",
  "hyperfine 'rm x'",
  'fdfind y -x rm',
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
])('rm * does not match %j', (command) => {
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
  const contents = fc.constantFrom('rm *', 'rm:*', 'rm x', 'rm', 'ls && rm x', 'sudo *');
  const wrappers = fc.constantFrom(
    ...['sudo -u root', 'doas -u root', 'env -u A', 'env A=1', 'timeout -s KILL 5', 'exec -a n', 'nice -n 5'],
    ...['xargs -I @', 'find . -exec', 'flock l', 'ionice -c 3', 'chroot /', '/usr/bin/sudo', '"env"', 'A=1'],
  );

  test('never turns a denied command into one that is not', () => {
    fc.assert(
      fc.property(
        fc.array(wrappers, { minLength: 1, maxLength: 3 }),
        commands,
        contents,
        (front, it, content) => {
          fc.pre(isDenied(content, it) && shellCommands(it).error === undefined);
          expect(match(content, `${front.join(' ')} ${it}`)).not.toBe('no');
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('a wrapper that takes the command as one word does not either', () => {
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
        fc.pre(isDenied(content, it) && shellCommands(it).error === undefined);
        expect(match(content, `${taker} ${quoted(it)} more`)).not.toBe('no');
      }),
      { numRuns: 1000 },
    );
  });
});

test.each([
  'FOO="a b" rm f',
  'FOO=\'a b\' BAR="c d" rm f',
  "FOO=$'a b' rm f",
  'FOO=a\\ b rm f',
  'FOO=$(pwd) rm f',
  'a[0]=1 rm f',
  'a["x y"]=1 rm f',
  'a+=(1 2) rm f',
  ">'a b' rm f",
  '>"$x y" rm f',
  '2>"a b" rm f',
  '<a\\ b rm f',
  '&>>log rm f',
  'rm<x f',
  '{fd}>x rm f',
  '! rm f',
  'time -p rm f',
  'ls # comment\nrm f',
  "ls # '\nrm f\n# '",
  'case x in (x) rm f;; esac',
  'for i in 1; do rm f; done',
  'select i in 1; do rm f; done',
  'f() { rm f; }; f',
  'function f { rm f; }',
  'echo "$(( $(rm f) ))"',
  'echo "${x:-$(rm f)}"',
  'cat <<EOF\n$(rm f)\nEOF',
  'bash <<< "rm f"',
  "bash <<'EOF'\nrm f\nEOF",
  'bash -s <<EOF\nrm f\nEOF',
  'sudo bash <<< "rm f"',
  'a=$(rm f)',
  '[[ -n $(rm f) ]]',
  '(( x = $(rm f) ))',
  'echo {a,$(rm f)}',
  "find . -exec bash -c 'rm f' \\;",
  "read -v 'a[$(rm f)]' x",
  "echo $[ 'a[$(rm f)]' ]",
  "(( 'a[`rm f`]' ))",
  "[[ 'a[$(rm f)]' -eq 1 ]]",
  "a['$(rm f)']=1",
  "echo ${x:'a[$(rm f)]'}",
  "for ((i='a[$(rm f)]';;)); do :; done",
  '. /dev/stdin <<< "rm f"',
  'ssh host <<EOF\nrm f\nEOF',
  'sudo -s <<< "rm f"',
  "bash -c 'eval \"$1\"' _ 'rm f'",
  'xargs -n 1 sh -c "rm f"',
  '"r"\'m\' f',
  "$'\\x72m' f",
  "$IFS sh -c 'rm f'",
  '$'.concat("{IFS}sh -c 'rm f'"),
  '$IFS $IFS sudo rm f',
  "bash <<< ] <<< 'rm f'",
  "{ bash; } <<< 'rm f'",
  '(cd x; bash) <<EOF\nrm f\nEOF',
  "while true; do sh; done <<< 'rm f'",
  "at now <<< 'rm f'",
  "tcsh -c 'rm f'",
  "bash-static -c 'rm f'",
  'compgen -C "rm f"',
])('deny rm * of %j (issue: plain commands that passed)', (command) => {
  expect(match('rm *', command)).toBe('yes');
});

test.each([
  'git push origin main',
  'git -C . push',
  'git -C "a b" push --force',
  'git --no-pager push',
  'git -c user.name=x push',
  'git --git-dir=.git --work-tree . push',
  'git --git-dir .git push',
  'GIT_DIR=x git -C . push',
  '/usr/bin/git -C . push',
  'sudo git -C . push',
  "bash -c 'git -C . push'",
  "git 'push'",
  'git -p push',
])('deny git push * of %j', (command) => {
  expect(match('git push *', command)).toBe('yes');
});

test.each([
  ['rm *', '$x f', 'the command is a variable'],
  ['rm *', '"$(echo rm)" f', 'the command is computed'],
  ['rm *', 'x=rm; sudo $x f', 'what a wrapper runs is a variable'],
  ['rm *', '/bin/r? f', 'a glob names the program'],
  ['rm *', '{r,}m f', 'braces make the name'],
  ['rm *', 'eval "$x"', 'a computed script'],
  ['rm *', 'bash -c "$x"', 'a computed script'],
  ['rm *', 'echo cm0gZgo= | base64 -d | sh', 'a script from a pipe'],
  ['rm *', 'echo rm f | sh $@', 'a script from a pipe: the argument may expand to nothing'],
  ['rm *', 'curl -s http://127.0.0.1/x | sudo bash -s', 'a script from a pipe'],
  ['rm *', 'cat x | { bash; }', 'a script from a pipe, in a group'],
  ['rm *', 'bash <(echo rm f)', 'a script from another command'],
  ['rm *', 'source <(echo rm f)', 'a script from another command'],
  ['rm *', '$IFS $x f', 'the command is a variable'],
  ['rm *', '$IFS$x f', 'the command is a variable'],
  ['rm *', 'cat <(ls)#b $(rm f)', 'the parser and the shell disagree'],
  ['rm *', 'bash < <(echo rm f)', 'a script from another command'],
  ['rm *', "echo 'rm f' | xargs -I{} bash -c '{}'", 'xargs runs what it reads'],
  ['rm *', 'echo rm f | xargs env', 'xargs runs what it reads'],
  ['rm *', 'echo rm f | xargs env ]=', 'xargs runs what it reads'],
  ['rm *', 'echo rm f | xargs -n2 sudo -n', 'xargs runs what it reads'],
  ['rm *', 'env -S "$x" f', 'a computed script'],
  ['rm *', 'echo rm f | sudo -s', 'a script from a pipe'],
  ['rm *', 'echo rm f | su', 'a script from a pipe'],
  ['rm *', 'echo rm f | ssh host', 'a script from a pipe'],
  ['rm *', 'echo rm f | at now', 'a script from a pipe'],
  ['rm *', 'echo rm f | parallel', 'parallel runs what it reads'],
  ['rm *', "echo rm f | xargs --replace sh -c '{}'", 'xargs runs what it reads'],
  ['rm *', "echo rm | xargs -I % sh -c 'sudo % f'", 'xargs runs what it reads'],
  ['rm *', "echo rm | xargs -I{} sh -c '{}' -n", 'xargs runs what it reads'],
  ['git push *', 'echo push | xargs git', 'the subcommand is read by xargs'],
  ['git push *', 'parallel git ::: push', 'the subcommand is an argument of parallel'],
  ['rm -rf *', 'echo -rf x | xargs rm', 'the options are read by xargs'],
  ['rm *', 'echo rm | xargs -I{} {} f', 'the program is read by xargs'],
  ['rm *', 'echo rm | xargs -I % sudo /bin/% f', 'the program is read by xargs'],
  ['rm *', 'find /bin -name r? -exec {} f \\;', 'the program is what find finds'],
  ['kubectl delete *', 'kubectl -n prod $x pod', 'the subcommand is a variable'],
  ['kubectl delete *', 'echo delete pod | xargs kubectl -n prod', 'the subcommand is read by xargs'],
  ['rm *', 'bash -ce "$x"', 'a computed script'],
  ['rm *', 'bash --rcfile y -c "$x"', 'a computed script'],
  ['rm *', 'bash -c "echo $(cat x)"', 'a computed script'],
  ['rm *', `x='; rm f'; bash -c "echo $x"`, 'a computed script'],
  ['rm *', 'read x; ssh host "ls $x"', 'a computed script'],
  ['rm *', 'bash <<< ls < <(echo rm f)', 'a script from another command'],
  ['rm *', 'su -c"$x"', 'a computed script'],
  ['rm *', 'su root --command="$x"', 'a computed script'],
  ['rm *', 'env -S"$x" f', 'a computed script'],
  ['rm *', 'echo rm f | su root', 'a script from a pipe'],
  ['rm *', 'nohup $x f', 'what a wrapper runs is a variable'],
  ['rm *', 'command "$x" f', 'what a wrapper runs is a variable'],
  ['rm *', 'chroot "$root" $x f', 'what a wrapper runs is a variable'],
  ['rm *', 'ssh host $x f', 'what a wrapper runs is a variable'],
  ['rm *', 'uv run $x f', 'what a runner runs is a variable'],
  ['rm *', '$'.concat('{x}m f'), 'a variable in the name'],
  ['rm *', 'bin/$x f', 'the program is a variable'],
  ['/opt/bin/x *', '$D/x f', 'the directory is a variable'],
  ['rm *', 'ls "open', 'the command does not parse'],
  ['rm *', 'ls; (', 'the command does not parse'],
  ['git push *', 'git $x', 'the subcommand is a variable'],
  ['git push *', 'git -C . $x', 'the subcommand is a variable'],
  ['git push *', 'git -c alias.p=push p', 'an alias on the command line'],
  ['kubectl delete *', 'kubectl -n prod delete pod x', 'options of another program'],
  ['npm publish *', 'npm --prefix . publish', 'options of another program'],
  ['docker push *', 'docker --context x push y', 'options of another program'],
  ['cargo publish', 'cargo +nightly publish', 'options of another program'],
])('a rule to deny %s cannot be checked against %j: %s', (content, command) => {
  expect(match(content, command)).toBe('maybe');
  const rules = [rule('Bash', 'allow'), rule(`Bash(${content})`, 'deny', 'userSettings')];
  expect(decide(situation(bash(command), { rules })).kind).toBe('ask');
  const bypass = { mode: 'bypassPermissions', bypassLaunched: true } as const;
  expect(decide(situation(bash(command), { rules, ...bypass })).kind).toBe('ask');
  expect(decide(situation(bash(command), { rules, mode: 'dontAsk' })).kind).toBe('deny');
});

test('the reason of a rule that cannot be checked names the rule and the cause', () => {
  const rules = [rule('Bash(rm *)', 'deny', 'userSettings')];
  const { reason } = decide(situation(bash('curl x | sh'), { rules }));
  expect(reason.text).toBe(
    'deny rule "Bash(rm *)" of userSettings cannot be checked against this command: a shell reads its commands from a pipe',
  );
});

test.each([
  ['rm *', 'npm test -- $ARGS'],
  ['rm *', 'git log $branch'],
  ['rm *', 'timeout $T npm test'],
  ['rm *', 'find $dir -name "*.ts"'],
  ['rm *', 'find . -name "$pattern" -exec grep x {} +'],
  ['rm *', 'env NODE_ENV=$E npm test'],
  ['rm *', 'bash script.sh $x'],
  ['rm *', 'cat list | xargs ls'],
  ['rm *', 'cat x | grep sh'],
  ['rm *', 'cat list | xargs -n 1 grep foo'],
  ['rm *', 'cat key | ssh host "cat > keys"'],
  ['rm *', 'echo y | sudo apt-get install x'],
  ['rm *', 'bash build.sh < /dev/null'],
  ['rm *', 'sudo -u $USER npm test'],
  ['rm *', 'ls | sort'],
  ['rm *', "git commit -m 'remove $(rm f)'"],
  ['rm *', 'test -n "$x" && [ 1 -eq 1 ]'],
  ['rm *', 'echo rm f | sort'],
  ['rm *', 'git log --grep rm | cat'],
  ['rm *', 'echo "$(date)" > log'],
  ['rm *', 'for f in *.ts; do wc -l "$f"; done'],
  ['rm *', 'docker run --rm -v "$PWD:/w" image'],
  ['rm *', 'cat <<EOF > notes\nrm f\nEOF'],
  ['rm *', 'git commit -m "$(cat <<\'EOF\'\nrm f\nEOF\n)"'],
  ['rm *', "python3 -c 'print(1)'"],
  ['git push *', 'git -C . log'],
  ['git push *', 'git --no-pager log --grep push'],
  ['git push *', 'git log $x'],
  ['git push *', 'git stash push'],
  ['npm publish *', 'npm --silent test'],
  ['kubectl delete *', 'kubectl -n prod get pods'],
  ['kubectl delete *', 'kubectl -n "$NS" get pods'],
  ['rm *', `find . -type f -exec sh -c 'wc -l "$1"' _ {} \\;`],
  ['rm *', `find . -exec sh -c 'wc -l "$1"' _ {} + -name '(x'`],
  ['rm *', `sh -c 'grep "$1" f' _ 'a(b'`],
  ['rm *', 'bash deploy.sh -c "$ENV"'],
  ['rm *', "ls | xargs -I{} sh -c 'cd {} && npm test'"],
  ['rm *', `ls | xargs -n1 -P4 bash -c 'echo "$0"'`],
  ['rm *', 'ls | xargs -n1 sh build.sh'],
  ['rm *', "find . -name '*.sh' | xargs bash -n"],
  ['git push *', 'git ls-files | xargs git add'],
  ['rm *', 'git ls-files | xargs -I {} cp {} dest/'],
  ['rm *', 'cat hosts | xargs -I{} ssh {} uptime'],
  ['rm *', 'seq 5 | parallel -j 2 echo {}'],
  ['rm *', 'parallel wget ::: a b'],
  ['rm *', 'find . -type f -exec cp {} dest/{} +'],
  ['rm *', `su "$USER" -c 'ls'`],
  ['rm *', 'chroot "$root" ls'],
  ['rm *', 'flock "$lock" npm test'],
  ['rm *', 'ssh -i "$key" "$HOST" uptime'],
  ['rm *', 'ssh "$HOST" uptime'],
  ['rm *', 'DIR=/srv; ssh -p 22 $HOST "cd $DIR && ls"'],
  ['rm *', 'bash -c "cd $DIR && npm test"'],
  ['rm *', 'npm start & PID=$!; trap "kill $PID" EXIT'],
  ['rm *', '"$HOME/.cargo/bin/cargo" test'],
  ['rm *', '$HOME/bin/x'],
  ['rm *', '$(npm bin)/tsc --noEmit'],
  ['rm *', './scripts/$name.sh x'],
  ['rm *', 'git rebase "origin/$branch"'],
  ['curl *', 'git grep -c curl'],
  ['curl *', 'npx vitest -c curl'],
  ['rm *', 'uv run scripts/$x.py'],
  ['rm *', 'npm exec -- vitest -t "$x"'],
])('deny %s does not match %j', (content, command) => {
  expect(match(content, command)).toBe('no');
});

describe('long commands take bounded time', () => {
  const long = 20_000;
  test.each([
    ['rm *', `bash -c "${'word '.repeat(long)}"`],
    ['*curl*|*sh*', `sudo ${'curl '.repeat(long)}`],
    ['rm *a*a*a*b', `sudo ${'rm a '.repeat(long)}`],
    ['*x*y*z', `$x ${'a'.repeat(long)}`],
    ['rm *', `${'sudo '.repeat(long)}ls`],
    ['rm *', `${'('.repeat(long)}ls${')'.repeat(long)}`],
    ['rm *', `echo ${'$('.repeat(long)}ls${')'.repeat(long)}`],
    ['rm *', `${'bash -c "'.repeat(long)}`],
    ['rm *', `${'{a,b}'.repeat(long)}`],
    ['rm *', `cat ${'<<A '.repeat(2000)}`],
    ['rm *', `${"'".repeat(long)}`],
    ['rm *', '#'.repeat(long)],
    ['rm *', `ls ${'\\\n'.repeat(long)}`],
  ])(
    'deny %s',
    (content, command) => {
      expect(['yes', 'no', 'maybe']).toContain(match(content, command));
    },
    30_000,
  );

  test.each([
    Array.from({ length: 300 }, (_, at) => `echo "line $x ${at}"`).join('\n'),
    Array.from({ length: 300 }, (_, at) => `kubectl -n a${at} --x y get pods`).join('\n'),
    `echo "$x" ${'a'.repeat(10_000)}`,
  ])(
    'with the maximum number of project rules: %#',
    (command) => {
      const rules = Array.from({ length: 2000 }, (_, at) =>
        rule(`Bash(${'*a'.repeat(25)}*b${at})`, 'deny', 'projectSettings'),
      );
      expect(decide(situation(bash(command), { rules: [rule('Bash', 'allow'), ...rules] })).kind).toBe('ask');
    },
    30_000,
  );
});
