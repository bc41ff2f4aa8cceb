import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Compares every export of the official package's published types with ours: the compiler decides, per export and
 * direction, whether a value of one type can be assigned to the other. Run it to print the differences:
 * `npm exec -- node scripts/type-walk.ts`.
 */
export type TypeWalkRow = {
  name: string;
  kind: ExportKind;
  present: boolean;
  /** Ours can be assigned to the official type. */
  toOfficial: boolean;
  /** The official one can be assigned to our type. */
  fromOfficial: boolean;
  /** Ours has every member of the official type, optional and nested ones included. */
  complete: boolean;
  /** The compiler's explanation of the first failed check. */
  note: string;
};

type ExportKind = 'type' | 'interface' | 'function' | 'const' | 'class';
type OfficialExport = { name: string; kind: ExportKind; isGeneric: boolean };

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PUBLISHED = join(ROOT, 'interop/node_modules/@anthropic-ai/claude-agent-sdk');
const OURS = join(ROOT, 'src/entry/index.ts');

/** The compared entry points: the official declarations and our module. */
const ENTRIES = {
  sdk: { official: join(PUBLISHED, 'sdk.d.ts'), ours: OURS },
  'sdk-tools': { official: join(PUBLISHED, 'sdk-tools.d.ts'), ours: join(ROOT, 'src/entry/sdk-tools.ts') },
};
type EntryName = keyof typeof ENTRIES;

/** Type arguments for exports that have no default for them. */
const TYPE_ARGUMENTS: Readonly<Record<string, string>> = {
  InferShape: '<{ a: z.ZodString; b: z.ZodOptional<z.ZodNumber> }>',
  SdkMcpToolDefinition: '<{ a: z.ZodString; b: z.ZodOptional<z.ZodNumber> }>',
};

/** The exports of an entry point of the official package, in alphabetical order. */
export function officialExports(entry: EntryName = 'sdk'): OfficialExport[] {
  const text = readFileSync(ENTRIES[entry].official, 'utf8');
  const found = text.matchAll(
    /^export (?:declare )?(?:abstract )?(type|interface|function|const|class) (\w+)(<)?/gm,
  );
  const exports = [...found].map(([, kind, name, generic]) => ({
    name: name as string,
    kind: kind as ExportKind,
    isGeneric: generic !== undefined && kind !== 'function',
  }));
  return exports.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Runs the compiler over one generated check per export and direction. */
export async function walkTypes(entry: EntryName = 'sdk'): Promise<TypeWalkRow[]> {
  const exports = officialExports(entry);
  const checks = exports.flatMap(checksOf);
  const header = headerOf(entry);
  const failures = await compile([...header, ...checks.map(({ code }) => code), ''].join('\n'), ROOT);
  const found = checks.map((check, at) => ({ ...check, failure: failures.get(at + header.length + 1) }));
  return exports.map(({ name, kind }) => rowOf(name, kind, found));
}

/** The errors of a program that imports `src/entry/index.ts`, compiled with our types or with the official ones. */
export async function programErrors(program: URL, types: 'ours' | 'official'): Promise<string[]> {
  const text = readFileSync(program, 'utf8');
  const specifier = types === 'ours' ? OURS : '@anthropic-ai/claude-agent-sdk';
  const code = text.replace(/'[^']*src\/entry\/index\.ts'/, JSON.stringify(specifier));
  const failures = await compile(code, types === 'ours' ? ROOT : join(ROOT, 'interop'));
  return [...failures].map(([line, failure]) => `line ${line}: ${failure}`);
}

/** Compiles one file, which resolves packages from `base`; the errors in it by line. */
async function compile(code: string, base: string): Promise<Map<number, string>> {
  const directory = mkdtempSync(join(tmpdir(), 'type-walk-'));
  try {
    const file = join(directory, 'walk.ts');
    symlinkSync(join(base, 'node_modules'), join(directory, 'node_modules'), 'junction');
    writeFileSync(file, code);
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(configFor(file)));
    return failuresByLine(await runCompiler(directory), 'walk.ts');
  } finally {
    rmSync(directory, { recursive: true });
  }
}

type Check = {
  name: string;
  kind: 'present' | 'toOfficial' | 'fromOfficial' | 'complete' | 'any';
  code: string;
};
type CheckResult = Check & { failure: string | undefined };

const headerOf = (entry: EntryName) => [
  `import type * as Official from ${JSON.stringify(ENTRIES[entry].official)};`,
  `import type * as Ours from ${JSON.stringify(ENTRIES[entry].ours)};`,
  `import type { z } from 'zod';`,
  'type NotAny<T> = 0 extends 1 & T ? never : true;',
  // Assignability ignores missing optional members, so completeness compares the types with every member required.
  'type Full<T> = T extends (...args: never) => unknown ? T : T extends object ? { [K in keyof T]-?: Full<T[K]> } : T;',
];

function checksOf({ name, kind, isGeneric }: OfficialExport): Check[] {
  const isValue = kind === 'function' || kind === 'const' || kind === 'class';
  const args = isGeneric ? (TYPE_ARGUMENTS[name] ?? '') : '';
  const views = [...(isValue ? ['typeof '] : []), ...(isValue && kind !== 'class' ? [] : [''])];
  return views.flatMap((view, at): Check[] => {
    const ours = `${view}Ours.${name}${args}`;
    const official = `${view}Official.${name}${args}`;
    const id = `${name}_${at}`;
    return [
      { name, kind: 'present', code: `export type present_${id} = ${ours};` },
      { name, kind: 'any', code: `export const any_${id}: NotAny<${ours}> = true;` },
      {
        name,
        kind: 'toOfficial',
        code: `export const to_${id} = (value: ${ours}): ${official} => value;`,
      },
      {
        name,
        kind: 'fromOfficial',
        code: `export const from_${id} = (value: ${official}): ${ours} => value;`,
      },
      ...(view === ''
        ? [
            {
              name,
              kind: 'complete' as const,
              code: `export const full_${id} = (value: Full<${ours}>): Full<${official}> => value;`,
            },
          ]
        : []),
    ];
  });
}

function rowOf(name: string, kind: ExportKind, checks: readonly CheckResult[]): TypeWalkRow {
  const failed = checks.filter((check) => check.name === name && check.failure !== undefined);
  const fails = (...kinds: Check['kind'][]) => failed.some((check) => kinds.includes(check.kind));
  return {
    name,
    kind,
    present: !fails('present'),
    toOfficial: !fails('present', 'any', 'toOfficial'),
    fromOfficial: !fails('present', 'any', 'fromOfficial'),
    complete: !fails('present', 'any', 'complete'),
    note: failed[0] ? `${failed[0].kind}: ${failed[0].failure}` : '',
  };
}

/** The compiler options of an ordinary strict program. */
function configFor(file: string): object {
  return {
    compilerOptions: {
      target: 'es2023',
      lib: ['es2024', 'esnext.disposable'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      module: 'nodenext',
      moduleResolution: 'nodenext',
      strict: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      noErrorTruncation: true,
      noEmit: true,
    },
    files: [file],
  };
}

function runCompiler(directory: string): Promise<string> {
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json');
  const command = join(compiler, '../bin/tsc');
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [command, '--project', directory, '--pretty', 'false'],
      { cwd: directory, maxBuffer: 256 * 1024 * 1024 },
      // The compiler exits with a code above 0 if it reports an error.
      (error, stdout, stderr) => (error && stdout === '' ? reject(new Error(stderr)) : resolve(stdout)),
    );
  });
}

/** The diagnostics of one file by line number: the first sentence, and the innermost explanation below it. */
function failuresByLine(output: string, file: string): Map<number, string> {
  const failures = new Map<number, string>();
  for (const report of output.split(/\n(?! )/)) {
    const [first = '', ...rest] = report.split('\n');
    const match = /^(.*)\((\d+),\d+\): error (TS\d+: .*)$/.exec(first);
    if (!match?.[1]?.endsWith(file)) continue;
    const inner = rest.map((line) => line.trim()).filter((line) => line !== '');
    const line = Number(match[2]);
    if (!failures.has(line))
      failures.set(line, shorten([match[3] as string, ...inner.slice(-2)].join(' / ')));
  }
  return failures;
}

function shorten(text: string): string {
  return text.length <= 600 ? text : `${text.slice(0, 300)} … ${text.slice(-300)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rows = [...(await walkTypes()), ...(await walkTypes('sdk-tools'))];
  for (const row of rows) {
    if (!row.present) console.log(`missing ${row.kind} ${row.name}`);
    else if (row.note !== '') {
      const failed = (['toOfficial', 'fromOfficial', 'complete'] as const).filter((check) => !row[check]);
      console.log(`${row.name}: not ${failed.join(', not ')}: ${row.note}`);
    }
  }
  const count = (isFine: (row: TypeWalkRow) => boolean) => `${rows.filter(isFine).length} of ${rows.length}`;
  console.log(
    `present ${count((row) => row.present)}, to official ${count((row) => row.toOfficial)}, from official ${count((row) => row.fromOfficial)}, complete ${count((row) => row.complete)}`,
  );
}
