import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shellCommands } from '../../../src/permissions/commands/shell-command.ts';
import { decide } from '../../../src/permissions/decide.ts';
import { matchCall } from '../../../src/permissions/match.ts';
import { bash, rule, situation, WORKSPACE } from '../situation.ts';

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
  ['ls && rm x', 'sudo -u root ls && rm x '],
  ['ls && rm x', "bash -c 'ls && rm x '"],
  ['ls && rm x', "bash -O extglob -c 'ls && rm x' more"],
  ['ls && rm x', "bash -c 'A=1 sudo -u root ls && rm x\n' more"],
  ['ls && rm x', 'sudo -u root\nls && rm x'],
  ['ls && rm x', 'sudo -u root \\\n  ls && rm x'],
  ['ls && rm x', 'bash <<EOF\nls && rm x\nEOF'],
  ['ls && rm x', "npx -c 'ls && rm x' more"],
  ['rm x', "eval 'ls; rm' x"],
  ['rm x', "eval 'sudo rm' x"],
  ['rm x', "ssh -p 22 host 'ls; rm' x"],
  ['rm x', "watch 'ls; rm' x"],
  ['rm x', `eval 'echo "' '"; rm' x`],
])('deny %s of %j', (content, command) => {
  expect(isDenied(content, command)).toBe(true);
});

test.each([
  'echo rm x',
  'git rm x',
  'git commit -m "rm x"',
  'timeout 5 npm test && git rm x',
  'timeout 5 npm test\ngit rm x | cat',
  'A="1\nrm x" ls | cat',
  'EDITOR=/usr/bin/rm ls; pwd',
  "bash <<< 'EDITOR=/usr/bin/rm ls; pwd'",
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
  const pieces = (minLength: number, maxLength: number) =>
    fc
      .array(fc.tuple(piece, fc.constantFrom(' ', '', '  ')), { minLength, maxLength })
      .map((them) => them.map((it) => it.join('')).join(''));
  /** The contents of rules, each with a command that it denies. */
  const denied = {
    'rm *': 'rm -f x',
    'rm:*': 'rm -f',
    'rm x': 'rm x',
    rm: 'rm',
    'ls && rm x': 'ls && rm x',
    'sudo *': 'sudo x',
  };
  const contents = fc.constantFrom(...(Object.keys(denied) as (keyof typeof denied)[]));
  const anyCommand = fc.tuple(contents, pieces(1, 8));
  /** Random commands that contain a denied one, since few other random commands are denied. */
  const aroundDenied = fc
    .tuple(
      contents,
      pieces(0, 3),
      fc.constantFrom('', '', ';', '&&', '|', '\n'),
      fc.constantFrom(' ', ''),
      pieces(0, 4),
    )
    .map(
      ([content, front, separator, space, rest]) =>
        [content, `${front}${separator}${denied[content]}${space}${rest}`] as const,
    );
  const restricted = fc.oneof({ weight: 1, arbitrary: anyCommand }, { weight: 9, arbitrary: aroundDenied });
  const wrappers = fc.constantFrom(
    ...['sudo -u root', 'doas -u root', 'env -u A', 'env A=1', 'timeout -s KILL 5', 'exec -a n', 'nice -n 5'],
    ...['xargs -I @', 'find . -exec', 'flock l', 'ionice -c 3', 'chroot /', '/usr/bin/sudo', '"env"', 'A=1'],
  );

  test('never turns a denied command into one that is not', () => {
    fc.assert(
      fc.property(fc.array(wrappers, { minLength: 1, maxLength: 3 }), restricted, (front, [content, it]) => {
        fc.pre(isDenied(content, it) && shellCommands(it).error === undefined);
        expect(match(content, `${front.join(' ')} ${it}`)).not.toBe('no');
      }),
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
      fc.property(takers, restricted, (taker, [content, it]) => {
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
  '$IFS"rm" f',
  'r$'.concat('{IFS:0:0}m f'),
  '$'.concat('{IFS}rm f'),
  'sudo$IFS-u$IFS"root"$IFS"rm" f',
  'bash$IFS-c "rm f"',
  "ls\n'sudo'$IFS'rm'$IFS'f'",
  "bash <<< ] <<< 'rm f'",
  "{ bash; } <<< 'rm f'",
  '(cd x; bash) <<EOF\nrm f\nEOF',
  "while true; do sh; done <<< 'rm f'",
  "at now <<< 'rm f'",
  "tcsh -c 'rm f'",
  "bash-static -c 'rm f'",
  'compgen -C "rm f"',
  'hash -p /bin/rm ls; ls f',
  'jobs -x rm f',
  "PS4='$(rm f)' bash -x -c ls",
  "export PS4='`rm f`'; set -x; ls",
  "x='a[$(rm f)]'; echo $((x))",
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
  ['rm *', "/bin/ba?h -c 'rm f'", 'a glob names a shell'],
  ['rm f', "$SHELL -c 'rm f'", 'a variable names a shell'],
  ['rm *', "b{a,}sh <<< 'sudo rm f'", 'braces make the name of a shell'],
  ['rm *', 'echo rm f | /bin/ba?h', 'a glob names a shell, with a script from a pipe'],
  ['rm *', 's?do rm f', 'the program may run its arguments'],
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
  ['rm *', '$x[', 'the command is a variable, and may contain a blank'],
  ['rm *', '$'.concat('{x}a#b'), 'the command is a variable, and may contain a blank'],
  ['rm *', 'IFS=; r$'.concat('{IFS}m f'), 'the shell splits no words'],
  ['rm *', 'cat <(ls)#b $(rm f)', 'the parser and the shell disagree'],
  ['rm *', 'bash < <(echo rm f)', 'a script from another command'],
  ['rm *', 'npm run x |bash < <(echo rm f) $x f\n', 'the script file is a variable'],
  ['rm *', 'bash $x f', 'the script file is a variable'],
  ['rm *', `set -- -c 'rm f'; bash "$@"`, 'the options of a shell are variables'],
  ['rm *', 'bash -o $x f', 'the options of a shell are variables'],
  ['deploy.sh prod', 'bash deploy.sh $x', 'the argument of a script file is a variable'],
  ['rm *', 'x=-s; echo rm f | bash $x f', 'a script from a pipe: the argument may be an option'],
  ['rm *', 'echo rm f | bash -$x f', 'a script from a pipe: the argument may be an option'],
  ['rm *', 'echo rm f | bash -es f', 'a script from a pipe'],
  ['rm *', 'echo rm f | bash -o pipefail', 'a script from a pipe'],
  ['rm *', 'echo rm f | bash /dev/stdin', 'a script from a pipe'],
  ['rm *', 'echo rm f | source /dev/stdin', 'a script from a pipe'],
  ['rm *', 'echo rm f | . "$x"', 'a script from a pipe'],
  ['rm *', 'bash /dev/fd/3 3< <(echo rm f)', 'a script from another descriptor'],
  ['rm *', "echo rm f | bash -c 'ls; bash'", 'a script from a pipe, in a script'],
  ['rm *', 'echo rm f | bash -c bash', 'a script from a pipe, in a script'],
  ['rm *', 'read -r x < y; echo "${x@P}"', 'a value is evaluated as a prompt'],
  ['rm *', "echo rm f | eval 'ls; bash'", 'a script from a pipe, in a script'],
  ['rm *', 'f() { bash; }; echo rm f | f', 'a script from a pipe, in a function'],
  ['rm *', 'echo rm f > >(bash)', 'a script from a process substitution'],
  ['rm *', 'coproc bash; echo rm f >&$fd', 'a coprocess reads its script'],
  ['rm *', 'coproc echo rm f; bash <&$fd', 'a script from a coprocess'],
  ['rm *', "bash <<'EOF'\nexec < <(echo rm f)\nEOF", 'a script replaces the input it is read from'],
  ['rm *', 'bash -es <<EOF\neval "exec <&3"\nEOF', 'a script replaces the input it is read from'],
  ['rm *', 'exec < <(echo rm f); bash', 'a script from the input of the shell'],
  ['rm *', 'command exec 3<<< "rm f"; bash <&3', 'a script from another descriptor'],
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
  ['rm x', "parallel 'ls; rm' ::: x", 'the argument is read by parallel'],
  ['rm x', "echo x | xargs -I % sh -c 'ls; rm %'", 'the argument is read by xargs'],
  ['rm x', "find . -exec sh -c 'rm {}' \\;", 'the argument is what find finds'],
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
  ['rm *', "bash <<'EOF'\nexec 2>&1\nls\nEOF"],
  ['git push *', 's?do git log'],
  ['rm *', 'cat x | "$HOME/bin/x"'],
  ['rm *', 'cat x | bash -c "cat"'],
  ['rm *', "x='$(date)'; echo $x"],
  ['rm *', 'bash "$DIR/script.sh" $x'],
  ['rm *', 'cat x | bash "$DIR/script.sh" -s'],
  ['rm *', 'for f in *.sh; do bash -n "$f"; done'],
  ['rm *', 'f() { ssh host uptime; }; f'],
  ['rm *', 'exec 3< <(ls); bash script.sh <&3'],
  ['rm *', 'source "$VENV/bin/activate"'],
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
  ['rm *', "find . -name '*.sh' -exec bash -n {} \\;"],
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
  ['rm *', '"${CROSS}gcc" -c a.c'],
  ['rm *', 'OLD=$IFS; IFS=,; ls $x; IFS=$OLD'],
  ['rm *', 'while IFS= read -r x; do echo "$x"; done'],
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
