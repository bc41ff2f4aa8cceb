import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Bottom to top, as ARCHITECTURE.md lists them. A folder may import itself and the folders before it, nothing after. */
const LAYERS = /```layers\n(.*?)```/s
  .exec(readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'))?.[1]
  ?.trim()
  .split('\n')
  .map((line) => line.split(/\s+/)[0] as string) as string[];

/** Pairs the order alone would allow. */
const APART = [
  ['host', 'sdk'],
  ['sdk', 'host'],
] as const;

const sources = globSync('src/**/*.ts', { cwd: ROOT });

test('every source file is in a layer, and ARCHITECTURE.md lists the layers', () => {
  expect(LAYERS.length).toBeGreaterThan(5);
  expect(sources.filter((file) => layerOf(file) === undefined)).toEqual([]);
});

test('imports point down the layers', () => {
  expect(
    imports()
      .filter(({ from, to }) => rank(to) > rank(from))
      .map(show),
  ).toEqual([]);
});

test('the two halves do not import each other', () => {
  const across = imports().filter(({ from, to }) =>
    APART.some(([left, right]) => isUnder(layerOf(from), left) && isUnder(layerOf(to), right)),
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
  'src/base/is-record.ts',
  'src/base/lines.ts',
  'src/base/nearest.ts',
  'src/base/redact.ts',
  'src/base/ring.ts',
  'src/host/check-host-options.ts',
  'src/host/config/approve/choice-file.ts',
  'src/host/config/approve/settings-part.ts',
  'src/host/config/merge/*.ts',
  'src/host/config/model.ts',
  'src/host/config/settings/hook-settings.ts',
  'src/host/config/settings/only-what-forbids.ts',
  'src/host/config/settings/read-*.ts',
  'src/host/config/settings/server-settings.ts',
  'src/host/config/settings/setting*.ts',
  'src/host/config/explain/*.ts',
  'src/host/connect/stdio/byte-lines.ts',
  'src/host/connect/stdio/least-environment.ts',
  'src/host/connect/stdio/message-lines.ts',
  'src/host/connect/stdio/message-scanner.ts',
  'src/host/connect/stdio/noise.ts',
  'src/host/connect/stdio/read-messages.ts',
  'src/host/connect/stdio/too-large.ts',
  'src/host/discover/choose-tools.ts',
  'src/host/discover/clean-members.ts',
  'src/host/discover/discovered.ts',
  'src/host/discover/json-fault.ts',
  'src/host/discover/keep-same.ts',
  'src/host/discover/prompt.ts',
  'src/host/discover/read-tool.ts',
  'src/host/discover/resource.ts',
  'src/host/hook/command-output.ts',
  'src/host/hook/failure-policy.ts',
  'src/host/hook/hook-effect.ts',
  'src/host/hook/match-hooks.ts',
  'src/host/launch/describe-flags.ts',
  'src/host/launch/flag-kind.ts',
  'src/host/launch/flag-table.ts',
  'src/host/launch/mcp-config.ts',
  'src/host/launch/model-name.ts',
  'src/host/launch/parse-flags.ts',
  'src/host/launch/plan-session.ts',
  'src/host/launch/result-settings.ts',
  'src/host/model/collect.ts',
  'src/host/model/fewer-images.ts',
  'src/host/model/sendable.ts',
  'src/host/model/well-formed.ts',
  'src/host/permission/answer.ts',
  'src/host/permission/command-rules.ts',
  'src/host/permission/decide.ts',
  'src/host/permission/match.ts',
  'src/host/permission/path.ts',
  'src/host/permission/rule.ts',
  'src/host/permission/shell-command.ts',
  'src/host/permission/subject.ts',
  'src/host/permission/unmatched.ts',
  'src/host/permission/wrapped-command.ts',
  'src/host/pin/bounded-text.ts',
  'src/host/pin/canonical.ts',
  'src/host/pin/deceptive.ts',
  'src/host/pin/definition.ts',
  'src/host/pin/difference.ts',
  'src/host/pin/differences.ts',
  'src/host/pin/effort.ts',
  'src/host/pin/gather.ts',
  'src/host/pin/hidden.ts',
  'src/host/pin/judge.ts',
  'src/host/pin/look-alike.ts',
  'src/host/pin/pin-file.ts',
  'src/host/pin/pin-of.ts',
  'src/host/pin/remember.ts',
  'src/host/pin/schema-differences.ts',
  'src/host/pin/shown.ts',
  'src/host/pin/tool-findings.ts',
  'src/host/pin/words.ts',
  'src/host/pool/*.ts',
  'src/host/pool/schema/*.ts',
  'src/host/result/choose.ts',
  'src/host/result/decode-base64.ts',
  'src/host/result/extension.ts',
  'src/host/result/image-size.ts',
  'src/host/result/image-type.ts',
  'src/host/result/indent-json.ts',
  'src/host/result/is-whole-image.ts',
  'src/host/result/json-text.ts',
  'src/host/result/limit.ts',
  'src/host/result/piece.ts',
  'src/host/result/read-result.ts',
  'src/host/result/repeats.ts',
  'src/host/result/split-text.ts',
  'src/host/result/view.ts',
  'src/host/search/concepts.ts',
  'src/host/search/dictionary.ts',
  'src/host/search/inverted.ts',
  'src/host/search/parse-query.ts',
  'src/host/search/rank.ts',
  'src/host/search/read-query.ts',
  'src/host/search/search-filter.ts',
  'src/host/search/shapes.ts',
  'src/host/search/split-words.ts',
  'src/host/search/stem.ts',
  'src/host/search/tool-terms.ts',
  'src/host/search/tool-text.ts',
  'src/host/search/translate.ts',
  'src/host/search/vocabulary.ts',
  'src/host/servers/call/after-failure.ts',
  'src/host/servers/call/time-limits.ts',
  'src/host/servers/features/completion.ts',
  'src/host/servers/features/feature-fault.ts',
  'src/host/servers/features/prompt-fault.ts',
  'src/host/servers/features/read-answers.ts',
  'src/host/servers/features/read-content.ts',
  'src/host/servers/features/told-of.ts',
  'src/host/servers/is-same.ts',
  'src/host/servers/lane-of.ts',
  'src/host/servers/read-entry.ts',
  'src/host/servers/retry.ts',
  'src/host/servers/server.ts',
  'src/host/servers/state.ts',
  'src/host/servers/status.ts',
  'src/host/servers/trouble.ts',
  'src/host/servers/why-not.ts',
  'src/protocol/**/*.ts',
  'src/sdk/argv.ts',
  'src/sdk/check-options.ts',
  'src/sdk/environment.ts',
  'src/sdk/hooks.ts',
  'src/sdk/initialize.ts',
  'src/sdk/mcp-servers.ts',
  'src/sdk/option-check.ts',
  'src/sdk/option-table.ts',
  'src/sdk/settings.ts',
  'src/sdk/tool-uses.ts',
  'src/sdk/turn-end.ts',
  'src/sdk/warnings.ts',
  'src/tools/result.ts',
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

test('no default exports and no wildcard re-exports', () => {
  expect(sources.filter((file) => /^export (default|\*)/m.test(text(file)))).toEqual([]);
});

/** Files that make a `RegExp` of a text. All other expressions are literals, or compiled by `compilePattern`. */
const REGEXP_OF_TEXT: Readonly<Record<string, string>> = {
  'src/base/redact.ts': 'constants of the file',
  'src/cli/secret/hidden-line.ts': 'constants of the file',
  'src/cli/uninstall/own-files.ts': 'constants of the file',
  'src/host/pin/hidden.ts': 'constants of the file',
  'src/host/pool/schema/patterns.ts': "a server's pattern, compiled to see whether it is one, and never run",
  'src/host/search/split-words.ts': 'constants of the file',
};

test('no text of a file, a server or a model becomes a RegExp, which could backtrack', () => {
  const making = sources.filter((file) =>
    /\bRegExp\s*\(|\.(?:match|matchAll|search)\(\s*['"`]/.test(text(file)),
  );
  expect(making.sort()).toEqual(Object.keys(REGEXP_OF_TEXT));
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

function layerOf(file: string): string | undefined {
  const folder = relative('src', dirname(file));
  return LAYERS.filter((layer) => isUnder(folder, layer)).sort((a, b) => b.length - a.length)[0];
}

function rank(file: string): number {
  const layer = layerOf(file);
  if (layer === undefined) throw new Error(`${file} is in no layer`);
  return LAYERS.indexOf(layer);
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
