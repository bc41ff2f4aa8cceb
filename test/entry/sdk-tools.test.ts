import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bin, ROOT } from '../../scripts/step.ts';

// Every exported type of the official `sdk-tools` against ours. The compiler decides, check by check.

const OFFICIAL = `${ROOT}interop/node_modules/@anthropic-ai/claude-agent-sdk/sdk-tools.d.ts`;
const OURS = `${ROOT}src/entry/sdk-tools.ts`;

/** Differences on purpose, with the reason; a check that passes must not be listed. */
const DIFFERENCES: Readonly<Record<string, string>> = {};

const HEADER = [
  `import type * as Official from ${JSON.stringify(OFFICIAL)};`,
  `import type * as Ours from ${JSON.stringify(OURS)};`,
  'type NotAny<T> = 0 extends 1 & T ? never : true;',
  // Assignability ignores missing optional members.
  'type Full<T> = T extends object ? { [K in keyof T]-?: Full<T[K]> } : T;',
];

/** One line per check, by its name. */
function checksOf(name: string): [string, string][] {
  return [
    [`${name}: is not any`, `export const any_${name}: NotAny<Ours.${name}> = true;`],
    [`${name}: ours to official`, `export const to_${name} = (it: Ours.${name}): Official.${name} => it;`],
    [`${name}: official to ours`, `export const of_${name} = (it: Official.${name}): Ours.${name} => it;`],
    [
      `${name}: ours has every member`,
      `export const full_${name} = (it: Full<Ours.${name}>): Full<Official.${name}> => it;`,
    ],
    [
      `${name}: ours has no other member`,
      `export const only_${name} = (it: Full<Official.${name}>): Full<Ours.${name}> => it;`,
    ],
  ];
}

const exportsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name = '']) => name);

/** The diagnostics of the compiler by the line of the check. */
async function failuresByLine(checks: readonly string[]): Promise<Map<number, string>> {
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-types-'));
  try {
    writeFileSync(join(directory, 'checks.ts'), [...HEADER, ...checks].join('\n'));
    const compilerOptions = {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      allowImportingTsExtensions: true,
      types: [],
      noEmit: true,
    };
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['checks.ts'] }),
    );
    const stdout = await new Promise<string>((resolve) =>
      execFile(bin('tsc'), ['-p', directory, '--pretty', 'false'], { cwd: directory }, (_error, text) =>
        resolve(text),
      ),
    );
    const found = stdout.matchAll(/^(.+?)\((\d+),\d+\): (error .+)$/gm);
    return new Map(
      [...found].map(([, file, line, text = '']) => {
        if (file !== 'checks.ts') throw new Error(`${file}: ${text}`);
        return [Number(line) - HEADER.length - 1, text];
      }),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('every exported type is assignable to the official one and back, and has the same members', async () => {
  const names = exportsOf(OFFICIAL);
  expect(names).toHaveLength(90);
  const checks = names.flatMap(checksOf);
  const failures = await failuresByLine(checks.map(([, code]) => code));
  const failed = [...failures].map(([line, text]) => [checks[line]?.[0] ?? `line ${line}`, text] as const);
  const unexpected = failed.filter(([check]) => !Object.hasOwn(DIFFERENCES, check));
  expect(unexpected).toEqual([]);
  expect(failed.map(([check]) => check).sort()).toEqual(Object.keys(DIFFERENCES).sort());
});

test('a missing or different type is found', async () => {
  const failures = await failuresByLine([
    'export type Gone = Ours.NoSuchInput;',
    'export const wrong = (it: Ours.BashInput): Official.GlobInput => it;',
    'export const right = (it: Ours.BashInput): Official.BashInput => it;',
  ]);
  expect([...failures.keys()]).toEqual([0, 1]);
});
