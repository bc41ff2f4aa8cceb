import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  BUILT_IN_NAMES,
  type ExplainRequest,
  explainRequest,
  readCall,
} from '../../src/cli/commands/explain/answer.ts';
import { createLookup } from '../../src/cli/mcp/session.ts';
import { render } from '../../src/cli/terminal/render.ts';
import { approveSettings, decideServers } from '../../src/config/approval/approval-store.ts';
import { type ConfigContext, configContext } from '../../src/config/config-context.ts';
import { readConfiguration } from '../../src/config/configuration.ts';
import { cachePath, writeCache } from '../../src/config/sources/read-connectors.ts';
import { type ExplainSetUp, SET_UPS } from './explain-set-ups.ts';

/** Renders every set-up with its files, the command and its output. */
export async function explainSetUps(): Promise<string> {
  const sections: string[] = [];
  for (const [at, setUp] of SET_UPS.entries()) {
    using place = explainPlace();
    const { world } = place;
    await prepare(setUp, place);
    const printed = place.neutral(await answerOf(setUp, world));
    const files = Object.entries(setUp.files).map(
      ([path, text]) => `\`${path}\`\n${fence('jsonc', text.trimEnd())}`,
    );
    const command = ['toolplane', 'explain', ...setUp.args].map(word).join(' ');
    sections.push(
      [
        `## ${at + 1}. ${setUp.title}`,
        setUp.story,
        ...files,
        fence('text', `$ ${command}\n${printed.trimEnd()}`),
      ].join('\n\n'),
    );
  }
  return sections.join('\n\n');
}

/** Temporary directories for a project, a home and managed configuration. */
export type ExplainPlace = Disposable & {
  readonly project: string;
  readonly world: ConfigContext;
  /** The environment of a process. */
  readonly env: Readonly<Record<string, string>>;
  /** The real path of a path in a set-up. */
  at(path: string): string;
  /** The text without paths of this machine. */
  neutral(text: string): string;
};

export function explainPlace(): ExplainPlace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'toolplane-explain-')));
  const [project, person, managed] = ['project', 'person', 'person/machine-wide'].map((name) =>
    join(base, name),
  ) as [string, string, string];
  for (const directory of [join(project, '.git'), person, managed]) mkdirSync(directory, { recursive: true });
  const env = {
    HOME: person,
    TOOLPLANE_HOME: join(person, '.toolplane'),
    TOOLPLANE_MANAGED_DIRECTORY: managed,
  };
  const world = configContext({ cwd: project, env, userHome: person, platform: process.platform });
  const [system = ''] = world.managed;
  return {
    project,
    world,
    env,
    at(path) {
      if (path.startsWith('~/')) return join(person, path.slice(2));
      return path.startsWith('/etc/toolplane/')
        ? join(managed, path.slice('/etc/toolplane/'.length))
        : join(project, path);
    },
    neutral: (text) =>
      text
        .replaceAll(`, ${join(system, 'managed-mcp.json')}`, '')
        .replaceAll(`${join(system, 'managed-mcp.json')}, `, '')
        // The replacement has the same length, so that columns stay aligned.
        .replaceAll('~/machine-wide', '/etc/toolplane')
        .replaceAll(project, '<project>')
        .replaceAll(person, '~'),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Writes the files; approvals are made before the content changes. */
export async function prepare(
  { files, approved = {}, catalogues = {} }: ExplainSetUp,
  place: ExplainPlace,
): Promise<void> {
  const { world } = place;
  write(approved, place);
  const { sources, settingsSources } = await readConfiguration(world);
  const isOfProject = ({ scope }: { scope: string }) => scope === 'project' || scope === 'local';
  const written = sources.filter(isOfProject).flatMap(({ servers }) => servers);
  if (written.length > 0) decideServers(world.home, written, 'approved');
  for (const source of settingsSources.filter(isOfProject)) approveSettings(world.home, source);
  write(files, place);
  for (const [url, body] of Object.entries(catalogues)) {
    const fetchedAt = new Date(0).toISOString();
    writeCache(cachePath(world.home, { url }), { label: url }, { fetchedAt, body: { ...body } });
  }
}

function write(files: Readonly<Record<string, string>>, place: ExplainPlace): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(place.at(path)), { recursive: true });
    writeFileSync(place.at(path), text, { mode: 0o600 });
  }
}

/** The output of the command, without starting a process. */
async function answerOf({ args }: ExplainSetUp, world: ConfigContext): Promise<string> {
  const [about, name] = args as [ExplainRequest['about'], string];
  const call = about === 'permission' ? readCall(name, BUILT_IN_NAMES) : { name };
  if ('fault' in call) throw new Error(call.fault);
  const written = 'input' in call && call.input !== undefined && { isWritten: true as const };
  const request: ExplainRequest = { about, ...call, ...written, wanted: {}, connects: false, format: 'text' };
  const configuration = await readConfiguration(world);
  const lookup = createLookup(configuration);
  const { pieces } = explainRequest(configuration, request, { observe: () => ({ lookup }) });
  return pieces.map((piece) => `${render(piece, { columns: 80, hasColors: false })}\n`).join('');
}

function word(text: string): string {
  return /^[\w-]+$/.test(text) ? text : `'${text}'`;
}

function fence(language: string, body: string): string {
  return `\`\`\`${language}\n${body}\n\`\`\``;
}
