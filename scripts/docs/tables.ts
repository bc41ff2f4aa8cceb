import { HOST_DIFFERENCES } from '../../interop/host-differences.ts';
import { worksWithRows } from '../../interop/peers/peers.ts';
import { EXCEPTIONS } from '../../interop/wire/exceptions.ts';
import { FLAGS } from '../../src/agent/launch/flag-table.ts';
import { serveRequest } from '../../src/agent/session/requests/control-requests.ts';
import { HOST_ERRORS } from '../../src/mcp/errors/host-error.ts';
import { SDK_ERRORS, SdkError } from '../../src/protocol/sdk-error.ts';
import { OFFICIAL_EXPORTS } from '../../src/sdk/official-exports.ts';
import { OFFICIAL_OPTIONS, type OptionRow, OWN_OPTIONS } from '../../src/sdk/options/option-table.ts';
import { Query } from '../../src/sdk/query.ts';
import { QueryMethods } from '../../src/sdk/query-methods.ts';
import { knownOutput } from '../example-run.ts';
import { typeDifferenceLines } from '../type-differences.ts';
import { AGENT_TABLES } from './agent-tables.ts';
import { apiReference } from './api.ts';
import { explainSetUps } from './explain.ts';
import { table } from './markdown-table.ts';
import { decisionTable, requirementTable } from './requirement-table.ts';

/** Generators of page content, by the name in their `generated` marks. */
export const GENERATED: Readonly<Record<string, () => string | Promise<string>>> = {
  'error-codes': errorCodes,
  'host-errors': hostErrors,
  'explain-set-ups': explainSetUps,
  'official-options': () => optionTable(OFFICIAL_OPTIONS),
  'own-options': () => optionTable(OWN_OPTIONS),
  exports: exportTable,
  methods: methodTable,
  'wire-exceptions': wireExceptions,
  'type-differences': () => typeDifferenceLines().join('\n'),
  'host-differences': hostDifferences,
  'works-with': worksWith,
  'not-supported': notSupported,
  requirements: requirementTable,
  decisions: decisionTable,
  api: apiReference,
  ...AGENT_TABLES,
};

/** One section per code, with the message that `examples/errors.ts` printed. */
function errorCodes(): string {
  const said = new Map(
    (knownOutput('errors') ?? '').split('\n').map((line) => {
      const [code = '', ...words] = line.split(': ');
      return [code, words.join(': ')];
    }),
  );
  return Object.entries(SDK_ERRORS)
    .map(([code, { meaning, remedy }]) => {
      const example = said.get(code);
      if (!example) throw new Error(`examples/errors.ts does not cause ${code}`);
      return `## ${code}\n\n${meaning} ${remedy}\n\n\`\`\`text\n${example}\n\`\`\``;
    })
    .join('\n\n');
}

function hostErrors(): string {
  const rows = Object.entries(HOST_ERRORS).map(([code, { meaning, remedy }]) => [
    `\`${code}\``,
    meaning,
    remedy,
  ]);
  return table(['code', 'meaning', 'remedy'], rows);
}

/** The published packages that `npm run interop` runs with both packages. */
function worksWith(): string {
  return table(['package', 'compared', 'differences with Toolplane’s agent'], worksWithRows());
}

const ROUTES: Record<OptionRow['goes'], string> = {
  argv: 'argument',
  initialize: '`initialize`',
  environment: 'environment',
  process: 'process',
  here: 'in this process',
  refused: '**rejected**',
};

function optionTable(options: Readonly<Record<string, OptionRow>>): string {
  const rows = Object.entries(options).map(([name, { goes, check, does }]) => {
    return [`\`${name}\``, ROUTES[goes], goes === 'refused' ? '' : check.what, does];
  });
  return table(['option', 'passed as', 'type with `strictOptions`', 'meaning'], rows);
}

function exportTable(): string {
  const rows = Object.entries(OFFICIAL_EXPORTS).map(([name, how]) => {
    return how === 'offered' ? [`\`${name}\``, 'supported', ''] : [`\`${name}\``, '**rejected**', how];
  });
  return table(['export', 'status', 'alternative, or the reason if there is none'], rows);
}

/** Calls each method once on a conversation that records the control requests. */
async function methodTable(): Promise<string> {
  const rows: string[][] = [];
  for (const name of methodNames(QueryMethods)) {
    const subtype = await requestOf(name);
    const isServed = subtype === undefined || ownAgentServes(subtype);
    const request = subtype === undefined ? 'none: part of the `initialize` response' : `\`${subtype}\``;
    rows.push([`\`${name}()\``, request, isServed ? 'yes' : '**rejected**']);
  }
  for (const name of methodNames(Query)) {
    if (!(name in QueryMethods.prototype)) rows.push([`\`${name}()\``, 'none', 'yes']);
  }
  return table(['method', 'control request', 'Toolplane’s agent'], rows);
}

/** Whether Toolplane's agent implements the control request; it rejects unknown subtypes before anything else. */
function ownAgentServes(subtype: string): boolean {
  try {
    Promise.resolve(serveRequest({} as never, subtype, {}, AbortSignal.abort() as never)).catch(() => {});
    return true;
  } catch (thrown) {
    return !(thrown instanceof SdkError && thrown.errorCode === 'unsupported_request');
  }
}

/** The control request that a method sends; undefined if it sends none. */
async function requestOf(name: string): Promise<string | undefined> {
  const asked: string[] = [];
  const conversation = {
    initialized: Promise.resolve({}),
    request: async ({ subtype }: { subtype: string }) => {
      asked.push(subtype);
      return {};
    },
    setServers: async () => asked.push('mcp_set_servers'),
    reinitialize: async () => asked.push('initialize'),
  };
  const methods = new QueryMethods(conversation as never) as unknown as Record<
    string,
    (it: string) => unknown
  >;
  await methods[name]?.('x');
  return asked[0];
}

function methodNames(of: { prototype: object }): string[] {
  return Object.getOwnPropertyNames(of.prototype).filter((name) => name !== 'constructor');
}

/** Differences between Toolplane's agent and the official CLI, from `interop/host-differences.ts`. */
function hostDifferences(): string {
  return HOST_DIFFERENCES.map(({ why }) => `- ${why[0]?.toUpperCase()}${why.slice(1)}.`).join('\n');
}

/** Every option, export, method and flag of the official package that is rejected, with the alternative. */
async function notSupported(): Promise<string> {
  const options = Object.entries(OFFICIAL_OPTIONS)
    .filter(([, { goes }]) => goes === 'refused')
    .map(([name, { does }]) => [`option \`${name}\``, does]);
  const exports = Object.entries(OFFICIAL_EXPORTS)
    .filter(([, how]) => how !== 'offered')
    .map(([name, how]) => [`export \`${name}\``, how]);
  const methods: string[][] = [];
  for (const name of methodNames(QueryMethods)) {
    const subtype = await requestOf(name);
    if (subtype !== undefined && !ownAgentServes(subtype))
      methods.push([`method \`${name}()\``, "works with the `claude` CLI, not with Toolplane's agent"]);
  }
  const flags = Object.entries(FLAGS).flatMap(([name, { use }]) =>
    use.as === 'refused' ? [[`flag \`--${name}\``, use.instead]] : [],
  );
  return table(
    ['rejected', 'alternative, or the reason if there is none'],
    [...options, ...exports, ...methods, ...flags],
  );
}

/** Differences on the wire from the official package, from `interop/wire/exceptions.ts`. */
function wireExceptions(): string {
  return EXCEPTIONS.map(({ reason }) => `- ${reason}`).join('\n');
}
