import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandEffect } from '../../../src/permissions/commands/command-effect.ts';
import { decide, type Situation } from '../../../src/permissions/decide.ts';
import { parseRule, type Rule } from '../../../src/permissions/rule.ts';

/** A command that the rules allow and that ran a program which they forbid. */
export type Breach = {
  readonly rules: 'allow' | 'deny' | 'reads';
  readonly command: string;
  readonly evidence: string;
};

export type FuzzReport = {
  readonly commands: number;
  /** Number of commands that the rules allow, each of which was run. */
  readonly executed: number;
  readonly breaches: readonly Breach[];
};

/**
 * Draws random shell commands, decides each under three sets of rules, runs what is allowed with bash in an empty
 * directory, and looks for traces of forbidden programs. `allow`: a few patterns are allowed and nothing else. `deny`:
 * everything is allowed but `rm`. `reads`: no rules, so that only commands run that certainly read.
 */
export async function fuzzBash({
  count,
  seed,
  onProgress,
}: {
  count: number;
  seed: number;
  onProgress?: (done: number) => void;
}): Promise<FuzzReport> {
  const random = randomNumbers(seed);
  const sandboxes = [new Sandbox(), new Sandbox()];
  const breaches: Breach[] = [];
  let drawn = 0;
  let executed = 0;
  const work = async (sandbox: Sandbox): Promise<void> => {
    while (drawn < count) {
      drawn += 1;
      const command = randomCommand(random);
      const x = VALUES[Math.floor(random() * VALUES.length)] as string;
      for (const rules of ['allow', 'deny', 'reads'] as const) {
        if (!isAllowed(rules, command)) continue;
        executed += 1;
        const evidence = await sandbox.run(rules, command, x);
        if (evidence !== undefined) breaches.push({ rules, command, evidence: `${evidence} with x="${x}"` });
      }
      onProgress?.(drawn);
    }
  };
  try {
    await Promise.all(sandboxes.map(work));
  } finally {
    for (const sandbox of sandboxes) sandbox.remove();
  }
  return { commands: drawn, executed, breaches };
}

/** Runs one command without checking rules, to show that the sandbox detects forbidden programs. */
export async function evidenceOf(rules: Breach['rules'], command: string): Promise<string | undefined> {
  const sandbox = new Sandbox();
  try {
    return await sandbox.run(rules, command);
  } finally {
    sandbox.remove();
  }
}

const ALLOWED = [
  'git log *',
  'ls *',
  'echo *',
  'npm run *',
  'grep *',
  'printf *',
  'test *',
  '[ *',
  'export *',
  'read *',
];
const RULES: Readonly<Record<Breach['rules'], readonly Rule[]>> = {
  allow: ALLOWED.map((content) => ruleFor(`Bash(${content})`, 'allow')),
  deny: [ruleFor('Bash', 'allow'), ruleFor('Bash(rm *)', 'deny')],
  reads: [],
};

function ruleFor(text: string, effect: Rule['effect']): Rule {
  const parsed = parseRule(text, effect, 'session');
  if (!parsed.ok) throw new Error(parsed.diagnostic.message);
  return parsed.rule;
}

export function isAllowed(rules: Breach['rules'], command: string): boolean {
  const isReading = rules === 'reads' && commandEffect(command)?.edits.length === 0;
  const situation: Situation = {
    ...(isReading && { effect: 'reads' }),
    call: { name: 'Bash', input: { command } },
    rules: RULES[rules],
    mode: 'default',
    bypassLaunched: false,
    trusted: true,
    workspace: { cwd: '/work', home: '/home/me', directories: [] },
  };
  return decide(situation).kind === 'allow';
}

/** The path of bash: `PATH` of the child contains only stand-ins. */
const BASH = execFileSync('sh', ['-c', 'command -v bash'], { encoding: 'utf8' }).trim();

const READERS = [
  'ls',
  'grep',
  'cat',
  'find',
  'sort',
  'uniq',
  'sed',
  'head',
  'tail',
  'wc',
  'cut',
  'tr',
  'stat',
];

/** A directory in which only harmless stand-ins for programs are found; each forbidden one leaves a trace. */
class Sandbox {
  readonly #root = mkdtempSync(join(tmpdir(), 'toolplane-fuzz-'));
  readonly #work = join(this.#root, 'work');
  readonly #trace = join(this.#root, 'trace');

  constructor() {
    const traced = `echo "$0 $*" >> '${this.#trace}'`;
    this.#program('allow', 'git', `[ "$1" = log ] || ${traced}`);
    this.#program('allow', 'npm', `[ "$1" = run ] || ${traced}`);
    for (const name of ['ls', 'grep']) this.#program('allow', name, ':');
    for (const name of ['touch', 'rm', 'cat', 'pwned', 'sh', 'bash', 'sudo', 'env'])
      this.#program('allow', name, traced);
    for (const name of READERS) {
      const real = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
      this.#program('reads', name, `exec '${real}' "$@"`);
    }
    for (const name of ['touch', 'rm', 'pwned', 'sh', 'bash', 'sudo', 'env', 'npm', 'git', 'xargs', 'tee'])
      this.#program('reads', name, traced);
    this.#program('deny', 'rm', traced);
    for (const name of ['git', 'npm', 'ls', 'grep', 'touch', 'pwned']) this.#program('deny', name, ':');
    this.#program('deny', 'sudo', 'while [ "$1" = -u ]; do shift 2; done; exec "$@"');
    for (const name of ['bash', 'sh', 'env', 'xargs', 'timeout', 'nice', 'find', 'cat']) {
      this.#program(
        'deny',
        name,
        `PATH=/usr/bin:/bin; real=$(command -v ${name}); PATH='${this.#programs('deny')}'; exec "$real" "$@"`,
      );
    }
  }

  /** `x` is the value of the variable of that name. */
  async run(rules: Breach['rules'], command: string, x = 'rm'): Promise<string | undefined> {
    mkdirSync(this.#work);
    writeFileSync(join(this.#work, 'f'), '');
    if (rules !== 'deny') script(join(this.#work, 'ls'), `echo "$0" >> '${this.#trace}'`);
    const child = spawn(BASH, ['-c', command], {
      cwd: this.#work,
      env: { PATH: this.#programs(rules), HOME: this.#work, FUNCNEST: '20', x },
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    });
    const timer = setTimeout(() => killGroup(child.pid), 5000);
    await new Promise((resolve) => child.on('close', resolve).on('error', resolve));
    clearTimeout(timer);
    killGroup(child.pid);
    const files = readdirSync(this.#work).filter((name) => name !== 'f' && name !== 'ls');
    const isTraced = existsSync(this.#trace);
    const isRemoved = !existsSync(join(this.#work, 'f'));
    rmSync(this.#work, { recursive: true, force: true });
    rmSync(this.#trace, { force: true });
    if (isTraced) return 'a forbidden program ran';
    if (isRemoved) return 'a file was removed';
    if (rules !== 'deny' && files.length > 0) return `files were written: ${files.join(', ')}`;
    return undefined;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  #programs(rules: Breach['rules']): string {
    return join(this.#root, rules);
  }

  #program(rules: Breach['rules'], name: string, text: string): void {
    mkdirSync(this.#programs(rules), { recursive: true });
    script(join(this.#programs(rules), name), text);
  }
}

function script(path: string, text: string): void {
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}

/** A command in its usual form, and fragments that are likely to be read differently by a shell and by a parser. */
function randomCommand(random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const parts = [pick(COMMANDS)];
  const length = 1 + Math.floor(random() * 8);
  for (let at = 0; at < length; at++) {
    const kind = random();
    parts.push(
      kind < 0.2 ? pick(ATTACKS) : kind < 0.3 ? pick(COMMANDS) : kind < 0.55 ? pick(QUOTES) : pick(FRAGMENTS),
    );
    if (random() < 0.4) parts.push(' ');
  }
  return parts.join('');
}

/** What the variable `x` may hold. */
const VALUES = ['rm', 'rm f', 'sudo rm', '-c', '-s'];
const COMMANDS = [
  'git log ',
  'ls ',
  'echo a ',
  'npm run x ',
  'grep x f ',
  'printf %s ',
  'test -n ',
  '[ ',
  'export A=1 ',
  'read ',
  'cat f ',
  'find . ',
  'sort f ',
  'sort f | uniq ',
  'sed -n 1p f ',
  'head -1 f ',
];
const ATTACKS = [
  ...[
    'touch PWNED',
    'rm f',
    '>PWNED',
    'pwned',
    '$x f',
    'sudo rm f',
    'bash -c "rm f"',
    "sh -c 'rm f'",
    'env rm f',
  ],
  ...[
    "'a[$(touch PWNED)]'",
    "-v 'a[$(rm f)]' x",
    '$(touch PWNED)',
    '`rm f`',
    '$(rm f)',
    'eval "rm f"',
    'xargs rm <<< f',
    'xargs env <<< "rm f"',
    'bash < <(echo rm f)',
  ],
  ...[
    'find . -name f -exec rm {} +',
    '-exec rm f +',
    '-o PWNED',
    '-fprint PWNED',
    '-n 1wPWNED',
    "'1e rm f'",
    'f PWNED',
    '-- -o PWNED',
    '--output=PWNED',
    '{ bash; } <<< "rm f"',
    'PATH . ; ls',
    '-v PATH . ; ls',
    'PATH=.\nls',
    'cat <<< "rm f" | sh',
    'bash <<< "rm f"',
    'timeout 1 rm f',
    'r\\m f',
    '"rm" f',
  ],
  ...[
    'echo rm f | ',
    '| bash ',
    '| bash -es ',
    '| . /dev/stdin',
    'bash /dev/stdin ',
    '> >(bash) ',
    'exec < <(echo rm f)\n',
    'exec 3<<< "rm f"\n',
    'bash <&3 ',
    'g() { bash; }\n',
    '| g ',
    'coproc bash\n',
    'set -- -c "rm f"\n',
    'bash $@ ',
    'bash "$@" ',
    "eval 'ls; ' ",
    "eval 'sudo r'm f",
    "xargs -I% sh -c '% f' <<< rm",
  ],
];
const QUOTES = [
  "'",
  '"',
  '\\',
  '`',
  '#',
  ' # ',
  '\n',
  "\n# '",
  "# '\n",
  '\\\n',
  "$'",
  '$"',
  "\\'",
  '\\"',
  '\\#',
  'a#b',
];
const FRAGMENTS = [
  ...[
    ' ',
    '\t',
    '\n',
    ';',
    ' && ',
    '||',
    '|',
    '|&',
    '&',
    '(',
    ')',
    '{ ',
    ' }',
    ' ; }',
    '$(',
    '${',
    '}',
    '$((',
    '))',
    '$[',
  ],
  ...[
    '<<EOF\n',
    '\nEOF\n',
    "<<'EOF'\n",
    '<<-EOF\n',
    '<<<',
    '<(',
    '>(',
    '2>&1',
    '>/dev/null',
    '&>/dev/null',
    '>&2',
    '<&0',
    '>',
  ],
  ...[
    '!',
    '[[ ',
    ' ]]',
    '((',
    'if ',
    ' then ',
    ' fi',
    'case x in x) ',
    ';;',
    ' esac',
    'for i in a; do ',
    ' done',
    'time ',
  ],
  ...[
    'coproc ',
    'a=',
    'a=1 ',
    'a="b c" ',
    'a[0]=1 ',
    ']=',
    '=(',
    '*',
    '?',
    '[a',
    ']',
    '~',
    '\r',
    '\v',
    '\f',
    '\u00a0',
    '\u2028',
  ],
  ...[
    '$x',
    '$IFS',
    '$@',
    '${x}',
    '-v ',
    '--',
    '@(',
    '+(',
    '!(',
    '{a,b}',
    '{rm,f}',
    'eval ',
    'exec ',
    'builtin ',
    'command ',
  ],
];

/** Mulberry32: small, and the same numbers for the same seed everywhere. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}
