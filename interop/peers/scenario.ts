import { fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Script } from '../../test/support/model-api/messages-api.ts';
import { latestTexts, offeredTools, toolResults } from '../../test/support/model-api/model-view.ts';
import { type CliSandbox, openCliSandbox } from '../../test/support/real-cli.ts';
import type { AgentName } from '../compare.ts';
import { normalise } from '../normalise.ts';
import { OFFICIAL_NAME, type PeerProject } from './project.ts';

/** A program that uses one published package; runs in a process of its own with the environment of the sandbox. */
export interface Scenario {
  readonly script: Script;
  /** Returns what the program observes as plain JSON. */
  run(setup: Setup): Promise<unknown>;
}

/** What a scenario runs with. */
export interface Setup {
  /** The executable of the agent; undefined for the default of the package, which is Toolplane's agent in this process. */
  readonly agent: string | undefined;
  readonly cwd: string;
  /** The options for every query; without built-in tools and without settings files. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Imports a package as the project has it installed. */
  load<Module>(name: string): Promise<Module>;
  packagePath(name: string): string;
}

/** What the parent sends to `child.ts` on its command line. */
export type ScenarioCall = { scenario: string; project: string; agent: string | undefined; cwd: string };

/** What `child.ts` sends back. */
export type ScenarioOutcome = { seen: unknown } | { failed: string };

const HERE = new URL('.', import.meta.url);

/** The names of all scenarios, sorted. */
export function scenarioNames(): string[] {
  return readdirSync(new URL('./scenarios/', HERE))
    .map((file) => file.replace(/\.ts$/, ''))
    .toSorted();
}

/** Loads a scenario by its file name without extension. */
export async function loadScenario(name: string): Promise<Scenario> {
  return await import(new URL(`./scenarios/${name}.ts`, HERE).href);
}

/** Runs a scenario in isolation; runs with the same behaviour return equal values. */
export async function observeScenario(
  name: string,
  project: PeerProject,
  agent: AgentName,
): Promise<unknown> {
  const { script } = await loadScenario(name);
  await using sandbox = await openCliSandbox(script, { TOOLPLANE_NODE: process.execPath });
  const host = join(project.packagePath(OFFICIAL_NAME), 'bin/toolplane-agent');
  const executables = { cli: sandbox.cli, host, 'in-process': undefined };
  const call = { scenario: name, project: project.path, agent: executables[agent], cwd: sandbox.cwd };
  const seen = await runChild(call, sandbox.env);
  return normalise({ seen, model: modelSide(sandbox) }, sandbox);
}

async function runChild(call: ScenarioCall, env: Record<string, string>): Promise<unknown> {
  const child = fork(fileURLToPath(new URL('./child.ts', HERE)), [JSON.stringify(call)], {
    cwd: call.cwd,
    env,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    silent: true,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      printed += chunk;
    });
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  const outcome = await new Promise<ScenarioOutcome>((resolve) => {
    child.once('message', (message) => resolve(message as ScenarioOutcome));
    child.once('close', () => resolve({ failed: 'the process ended without a result' }));
  });
  clearTimeout(timer);
  if (child.exitCode === null) child.kill('SIGKILL');
  if ('failed' in outcome) throw new Error(`${outcome.failed}\n${printed}`.trimEnd());
  return outcome.seen;
}

const TIMEOUT_MS = 60_000;

/** The requests of the model: tools of MCP servers, what the user said, and tool results. */
function modelSide(sandbox: CliSandbox): unknown[] {
  return sandbox.api.requests.map((request) => ({
    tools: offeredTools(request).map((tool) => tool.name),
    // The CLI adds a line end to a text that another user message follows.
    said: latestTexts(request)
      .filter((text) => !text.startsWith('<system-reminder>'))
      .map((text) => text.replace(/\n$/, '')),
    results: toolResults(request),
  }));
}
