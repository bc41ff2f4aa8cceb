import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';
import { OFFICIAL_EXPORTS } from '../../src/sdk/official-exports.ts';
import { ROOT } from '../step.ts';

/** One exported name with its documentation and its declaration. */
export type ApiExport = { readonly name: string; readonly doc: string; readonly code: readonly string[] };

/** The package's entry points by their source file in `src/entry`. */
const ENTRIES: Readonly<Record<string, string>> = {
  toolplane: 'index',
  'toolplane/host': 'host',
  'toolplane/testing': 'testing',
};

/** The API reference: every export of every entry point, from the declarations that `tsc` emits. */
export function apiReference(): string {
  return readApi()
    .map(({ entry, exports }) => {
      const sections = exports.map(({ name, doc, code }) =>
        [`### ${name}`, doc, ...code.map((text) => `\`\`\`ts\n${text}\n\`\`\``)].filter(Boolean).join('\n\n'),
      );
      return `## ${entry}\n\n${sections.join('\n\n')}`;
    })
    .join('\n\n');
}

let api: { entry: string; exports: ApiExport[] }[] | undefined;

/** The exports of every entry point, in alphabetical order, without the unsupported ones. */
export function readApi(): { entry: string; exports: ApiExport[] }[] {
  if (api) return api;
  const directory = mkdtempSync(join(tmpdir(), 'toolplane-api-'));
  try {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const emit = ['--emitDeclarationOnly', '--declarationMap', 'false', '--sourceMap', 'false'];
    execFileSync(process.execPath, [
      compiler,
      '-p',
      join(ROOT, 'tsconfig.build.json'),
      '--outDir',
      directory,
      ...emit,
    ]);
    api = Object.entries(ENTRIES).map(([entry, file]) => ({
      entry,
      exports: exportsOf(join(directory, 'entry', `${file}.d.ts`)),
    }));
    return api;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function exportsOf(path: string): ApiExport[] {
  const module = readModule(path);
  const names = new Map<string, ApiExport>();
  for (const [name, { from, local }] of module.reexports) names.set(name, resolve(from, local, name));
  for (const [name, declared] of module.declarations) {
    if (declared.isExported && !isUnsupported(name))
      names.set(name, withInherited(declared, module, name, name));
  }
  return [...names.values()].toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}

function isUnsupported(name: string): boolean {
  return Object.entries(OFFICIAL_EXPORTS).some(([known, use]) => known === name && use !== 'offered');
}

function resolve(path: string, local: string, name: string): ApiExport {
  const module = readModule(path);
  const declared = module.declarations.get(local);
  if (declared) return withInherited(declared, module, local, name);
  const further = module.reexports.get(local);
  if (!further) throw new Error(`${path} does not declare ${local}`);
  return resolve(further.from, further.local, name);
}

/** A class shows the members of its superclass too, which is often not exported itself. */
function withInherited(
  { doc, code, parent }: Declared,
  module: Module,
  local: string,
  name: string,
): ApiExport {
  const own = code.flatMap((text) => {
    const alias = module.imports.get(/^type \w+ = (\w+);$/.exec(text)?.[1] ?? '');
    return alias
      ? resolve(alias.from, alias.local, name).code
      : [text.replace(new RegExp(`\\b${local}\\b`), name)];
  });
  const imported = parent === undefined ? undefined : module.imports.get(parent);
  if (!imported) return { name, doc, code: own };
  const inherited = readModule(imported.from).declarations.get(imported.local);
  return { name, doc, code: [...own, ...(inherited?.code ?? [])] };
}

type Declared = { doc: string; code: string[]; isExported: boolean; parent?: string };
type Target = { from: string; local: string };
type Module = {
  declarations: Map<string, Declared>;
  reexports: Map<string, Target>;
  imports: Map<string, Target>;
};

const modules = new Map<string, Module>();

function readModule(path: string): Module {
  const known = modules.get(path);
  if (known) return known;
  const module = parseModule(path);
  modules.set(path, module);
  return module;
}

/** The members of syntax trees that are read here. */
type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly id?: { readonly name: string };
  readonly superClass?: { readonly name?: string } | null;
  readonly declaration?: Node | null;
  readonly declarations?: readonly Node[];
  readonly specifiers?: readonly {
    readonly local: { readonly name: string };
    readonly exported?: { readonly name: string };
    readonly imported?: { readonly name: string };
  }[];
  readonly source?: { readonly value: string } | null;
};

function parseModule(path: string): Module {
  const source = readFileSync(path, 'utf8');
  const { program, comments } = parseSync(path, source, { lang: 'dts' });
  const module: Module = { declarations: new Map(), reexports: new Map(), imports: new Map() };
  const target = (from: string) => join(dirname(path), from.replace(/\.ts$/, '.d.ts'));
  const declare = (name: string, node: Node, statement: Node, code: string) => {
    const before = comments.findLast(({ end }) => end <= statement.start);
    const isAdjacent = before && source.slice(before.end, statement.start).trim() === '';
    const doc = isAdjacent && before.value.startsWith('*') ? docText(before.value) : '';
    const earlier = module.declarations.get(name);
    module.declarations.set(name, {
      doc: [earlier?.doc, doc].filter(Boolean).join('\n\n'),
      code: [...(earlier?.code ?? []), tidy(code)],
      isExported: statement.type === 'ExportNamedDeclaration',
      ...(node.superClass?.name !== undefined && { parent: node.superClass.name }),
    });
  };
  for (const statement of program.body as unknown as Node[]) {
    const { specifiers = [], source: from } = statement;
    if (from) {
      for (const { local, exported, imported } of specifiers) {
        const to = { from: target(from.value), local: imported?.name ?? local.name };
        if (exported) module.reexports.set(exported.name, to);
        else module.imports.set(local.name, to);
      }
      continue;
    }
    const node = statement.declaration ?? statement;
    for (const one of node.declarations ?? [node]) {
      if (!one.id) continue;
      const text = source.slice(one.start, one.end);
      declare(one.id.name, one, statement, node.declarations ? `const ${text};` : text);
    }
  }
  return module;
}

/** The text of a doc comment without its stars. */
function docText(comment: string): string {
  return comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*+ ?/, ''))
    .join('\n')
    .trim();
}

function tidy(code: string): string {
  return code
    .replaceAll(/^\s*#private;\n/gm, '')
    .replaceAll(/import\("[^"]*"\)\./g, '')
    .replaceAll(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2))
    .replace(/^(export )?(declare )?/, '');
}
