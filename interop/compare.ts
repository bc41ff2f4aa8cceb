import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openCliSandbox } from '../test/support/real-cli.ts';
import { normalise } from './normalise.ts';
import type { Program, Sdk } from './program.ts';

/** The packages a program can run with. */
export type PackageName = 'official' | 'ours';

/** The agents that a program can use: the real CLI, or Toolplane's host as a process or in the process of the program. */
export type AgentName = 'cli' | 'host' | 'in-process';

/** Runs one program in isolation; runs with the same behaviour return equal values. `host` is the executable of Toolplane's host. */
export async function observe(
  program: Program,
  sdk: Sdk,
  agent: AgentName = 'cli',
  host = OWN_HOST,
): Promise<unknown> {
  await using sandbox = await openCliSandbox(program.script, { TOOLPLANE_NODE: process.execPath });
  // Without a path, `query()` of Toolplane runs the agent in its own process.
  const paths = { cli: sandbox.cli, host, 'in-process': '' };
  const given = { ...sandbox, cli: paths[agent] };
  return normalise(await program.run(sdk, given as typeof sandbox), sandbox);
}

/** Runs from the sources, which need no build. */
const OWN_HOST = fileURLToPath(new URL('../bin/toolplane-agent', import.meta.url));

/** `programs`: about the SDK and the agent; `mechanisms`: about a mechanism of the agent, such as background work. */
export type ProgramFolder = 'programs' | 'mechanisms';

/** The names of all programs, or of those in a folder, sorted. */
export async function programNames(...folders: ProgramFolder[]): Promise<string[]> {
  const chosen = folders.length > 0 ? folders : (['programs', 'mechanisms'] as const);
  const files = await Promise.all(chosen.map((it) => readdir(new URL(`./${it}/`, import.meta.url))));
  return files
    .flat()
    .map((file) => file.replace(/\.ts$/, ''))
    .toSorted();
}

/** Loads a program by its file name without extension. */
export async function loadProgram(name: string): Promise<Program> {
  const isMechanism = existsSync(new URL(`./mechanisms/${name}.ts`, import.meta.url));
  const folder: ProgramFolder = isMechanism ? 'mechanisms' : 'programs';
  return await import(new URL(`./${folder}/${name}.ts`, import.meta.url).href);
}

/** Loads a package; undefined if Toolplane has no entry point. */
export async function loadPackage(name: PackageName): Promise<Sdk | undefined> {
  if (name === 'official') return await import('@anthropic-ai/claude-agent-sdk');
  const entries = ['../src/entry/index.ts', '../dist/entry/index.js'];
  const urls = entries.map((entry) => new URL(entry, import.meta.url));
  const found = urls.find((url) => existsSync(url));
  return found && (await import(found.href));
}
