import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Bottom to top, as ARCHITECTURE.md lists them, with the line of each. Folders of one line may import each other. */
const LAYERS = new Map(
  /```layers\n(.*?)```/s
    .exec(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))?.[1]
    ?.trim()
    .split('\n')
    .flatMap((line, rank) =>
      (line.split(/\s+/)[0] as string).split(',').map((folder) => [folder, rank] as const),
    ),
);

/** The host side, which neither imports the SDK nor is imported by it, although their order alone would allow it. */
const HOST_SIDE = ['mcp', 'pool', 'permissions', 'hooks', 'config', 'channels', 'agent', 'host'];

const sources = globSync('src/**/*.ts', { cwd: ROOT });

test('every source file is in a layer, and ARCHITECTURE.md lists the layers', () => {
  expect(LAYERS.size).toBeGreaterThan(5);
  expect(sources.filter((file) => layerOf(file) === undefined)).toEqual([]);
});

test('every file and folder that ARCHITECTURE.md names exists', () => {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const named = [...page.matchAll(/`([a-z][\w-]*(?:\/[\w-]+)*\/(?:[\w-]+\.\w+)?)`/g)].map(
    ([, path]) => path as string,
  );
  expect(named.length).toBeGreaterThan(20);
  const isThere = (path: string) => existsSync(join(ROOT, path)) || existsSync(join(ROOT, 'src', path));
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

test('imports point down the layers', () => {
  expect(
    imports()
      .filter(({ from, to }) => rank(to) > rank(from))
      .map(show),
  ).toEqual([]);
});

test('the two halves do not import each other', () => {
  const isHostSide = (file: string) => HOST_SIDE.some((folder) => isUnder(layerOf(file), folder));
  const isSdk = (file: string) => layerOf(file) === 'sdk';
  const across = imports().filter(
    ({ from, to }) => (isHostSide(from) && isSdk(to)) || (isSdk(from) && isHostSide(to)),
  );
  expect(across.map(show)).toEqual([]);
});

test('only entry and cli read the environment, and only they and links end processes', () => {
  const readers = sources.filter((file) => {
    const layer = layerOf(file);
    return layer !== 'entry' && layer !== 'cli' && /process\.env\b/.test(text(file));
  });
  expect(readers).toEqual([]);
});

/** Deciding is apart from doing: these take plain data and give plain data. */
const PURE = [
  'src/base/json-value.ts',
  'src/base/text/nearest.ts',
  'src/base/text/redact.ts',
  'src/host/check-host-options.ts',
  'src/config/merge/*.ts',
  'src/config/model.ts',
  'src/config/settings/hook-settings.ts',
  'src/config/settings/merge-settings.ts',
  'src/config/settings/read-*.ts',
  'src/config/settings/read-settings.ts',
  'src/config/settings/setting*.ts',
  'src/config/explain/*.ts',
  'src/mcp/transports/stdio/message-lines.ts',
  'src/mcp/transports/oversized-message.ts',
  'src/mcp/connection/repeated-warnings.ts',
  'src/mcp/discovery/tool-filter.ts',
  'src/mcp/discovery/list-entries.ts',
  'src/hooks/command-output.ts',
  'src/hooks/run-hooks.ts',
  'src/hooks/match-hooks.ts',
  'src/hooks/hook-effect.ts',
  'src/agent/launch/flag-table.ts',
  'src/agent/launch/model-name.ts',
  'src/agent/launch/parse-flags.ts',
  'src/agent/models/message-collector.ts',
  'src/agent/models/sanitize-request.ts',
  'src/permissions/ask.ts',
  'src/permissions/commands/*.ts',
  'src/permissions/decide.ts',
  'src/permissions/match.ts',
  'src/permissions/path.ts',
  'src/permissions/rule.ts',
  'src/permissions/subject.ts',
  'src/permissions/suggested-rules.ts',
  'src/pool/pinning/tool-findings.ts',
  'src/pool/pinning/differences.ts',
  'src/pool/pinning/hidden-text.ts',
  'src/pool/pinning/tool-change.ts',
  'src/pool/*.ts',
  'src/pool/schema/*.ts',
  'src/agent/results/fit-to-limit.ts',
  'src/agent/results/binary.ts',
  'src/agent/results/image-format.ts',
  'src/agent/results/long-text.ts',
  'src/agent/results/tool-result.ts',
  'src/agent/results/result-limit.ts',
  'src/agent/results/pieces.ts',
  'src/pool/search/translate.ts',
  'src/pool/search/inverted-index.ts',
  'src/pool/search/search-query.ts',
  'src/pool/search/rank.ts',
  'src/pool/search/expand-query.ts',
  'src/pool/search/tokenize.ts',
  'src/pool/search/tool-terms.ts',
  'src/mcp/calls/time-limits.ts',
  'src/mcp/features/feature-results.ts',
  'src/mcp/features/subscriptions.ts',
  'src/mcp/servers/connect-queue.ts',
  'src/mcp/servers/server-entry.ts',
  'src/mcp/servers/retry-policy.ts',
  'src/mcp/servers/server-status.ts',
  'src/mcp/servers/server-state.ts',
  'src/protocol/**/*.ts',
  'src/sdk/options/launch-flags.ts',
  'src/sdk/options/check-options.ts',
  'src/sdk/handlers/hooks.ts',
  'src/sdk/options/mcp-servers.ts',
  'src/sdk/options/option-table.ts',
  'src/sdk/conversation/tool-uses.ts',
  'src/sdk/conversation/turn-state.ts',
  'src/tool-server/result.ts',
];

test('pure files touch nothing outside: no node modules, no network, no clock, no process', () => {
  const files = PURE.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  expect(files.length).toBeGreaterThanOrEqual(PURE.length);
  const impure = files.filter((file) =>
    /from 'node:|\bfetch\(|\bprocess\.|Date\.now|performance\.now|setTimeout|Math\.random/.test(text(file)),
  );
  expect(impure).toEqual([]);
});

test('no source file is longer than 500 lines', () => {
  const long = sources
    .map((file) => ({ file, lines: text(file).split('\n').length - 1 }))
    .filter(({ lines }) => lines > 500);
  expect(long).toEqual([]);
});

test('files are topics, not fragments: few are small, and no folder but src itself has more than 15 entries', () => {
  const lengths = sources.map((file) => text(file).split('\n').length - 1);
  const lines = lengths.reduce((sum, length) => sum + length, 0);
  expect(lines / sources.length).toBeGreaterThan(165);
  expect(lengths.filter((length) => length < 40).length).toBeLessThanOrEqual(30);
  const folders = new Set(sources.flatMap((file) => parents(file)));
  folders.delete('src');
  const crowded = [...folders]
    .map((folder) => ({ folder, entries: readdirSync(join(ROOT, folder)).length }))
    .filter(({ entries }) => entries > 15);
  expect(crowded).toEqual([]);
});

/** Words for which the field has an established term; GLOSSARY.md and CONTRIBUTING.md name it. */
const DIALECT = new Set(
  `aside asleep fallen heal healed healing hear heard hears longest luck meant mend mended most patience pulse said say
  shelf standing stormy tell tells told trouble troubles unheard waker weigh whoever wish wishes world worlds`.split(
    /\s+/,
  ),
);

/** Identifiers that contain such a word and mean something else. */
const ESTABLISHED = new Set(['openWorldHint', 'openWorld', 'longest', 'longestFirst']);

test('identifiers and file names use the vocabulary of the field', () => {
  const found = sources
    .filter((file) => file !== 'src/pool/search/tokenize.ts')
    .flatMap((file) => {
      // The table of irregular verb forms is data.
      const identifiers = new Set([basename(file, '.ts'), ...identifiersOf(text(file))]);
      return [...identifiers]
        .filter((it) => !ESTABLISHED.has(it) && wordsOf(it).some((word) => DIALECT.has(word)))
        .map((identifier) => `${file}: ${identifier}`);
    });
  expect(found).toEqual([]);
});

test('the check of identifiers sees parts of names, and neither comments nor strings', () => {
  const source =
    "/** told */ const isTold = `said ${sayIt(x)}`; // wish\nconst a = 'told'; MOST_BYTES; 'it\\'s told'";
  const words = [...identifiersOf(source)].filter((it) => wordsOf(it).some((word) => DIALECT.has(word)));
  expect(words).toEqual(['isTold', 'sayIt', 'MOST_BYTES']);
});

test('no default exports and no wildcard re-exports', () => {
  expect(sources.filter((file) => /^export (default|\*)/m.test(text(file)))).toEqual([]);
});

/** Files that make a `RegExp` of a text. All other expressions are literals, or compiled by `compilePattern`. */
const REGEXP_OF_TEXT: Readonly<Record<string, string>> = {
  'src/base/text/redact.ts': 'constants of the file',
  'src/cli/commands/uninstall/home-files.ts': 'constants of the file',
  'src/hooks/match-hooks.ts': 'a matcher of settings, compiled to see whether it is one, and never run',
  'src/pool/pinning/hidden-text.ts': 'constants of the file',
  'src/pool/schema/repair.ts': "a server's pattern, compiled to see whether it is one, and never run",
  'src/pool/search/tokenize.ts': 'constants of the file',
};

test('no text of a file, a server or a model becomes a RegExp, which could backtrack', () => {
  const making = sources.filter((file) =>
    /\bRegExp\s*\(|\.(?:match|matchAll|search)\(\s*['"`]/.test(text(file)),
  );
  expect(making.sort()).toEqual(Object.keys(REGEXP_OF_TEXT).sort());
});

function imports(): { from: string; to: string }[] {
  return sources.flatMap((from) => {
    const found = text(from).matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g);
    return [...found].map(([, target]) => ({
      from,
      to: normalize(join(dirname(from), target as string)),
    }));
  });
}

/** Identifiers of a source, without comments and texts; the expressions inside template literals are read. */
function identifiersOf(source: string): string[] {
  const code = source.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/g,
    (part) =>
      part.startsWith('`') ? (part.match(/(?<=\$\{)[^}]*/g) ?? []).join(' ').replace(/'[^']*'/g, '') : ' ',
  );
  return code.match(/[A-Za-z_$][\w$]*/g) ?? [];
}

function wordsOf(identifier: string): string[] {
  return (identifier.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
}

/** The folders that hold a file, from `src` down. */
function parents(file: string): string[] {
  const folder = dirname(file);
  return folder === '.' ? [] : [...parents(folder), folder];
}

function layerOf(file: string): string | undefined {
  const folder = relative('src', dirname(file));
  return [...LAYERS.keys()].filter((layer) => isUnder(folder, layer)).sort((a, b) => b.length - a.length)[0];
}

function rank(file: string): number {
  const found = LAYERS.get(layerOf(file) ?? '');
  if (found === undefined) throw new Error(`${file} is in no layer`);
  return found;
}

function isUnder(folder: string | undefined, layer: string): boolean {
  return folder === layer || folder?.startsWith(`${layer}/`) === true;
}

function text(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function show({ from, to }: { from: string; to: string }): string {
  return `${from} → ${to}`;
}
