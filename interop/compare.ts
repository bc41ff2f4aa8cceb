import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { openCliWorld } from '../test/world/real-cli.ts';
import { normalise } from './normalise.ts';
import type { Program, Sdk } from './program.ts';

/** The packages a program can run with. */
export type PackageName = 'official' | 'ours';

/** Runs one program in a fresh world; two runs that behave alike give equal values. */
export async function observe(program: Program, sdk: Sdk): Promise<unknown> {
  await using world = await openCliWorld(program.script);
  return normalise(await program.run(sdk, world), world);
}

/** The names of all programs, sorted. */
export async function programNames(): Promise<string[]> {
  const files = await readdir(new URL('./programs/', import.meta.url));
  return files.map((file) => file.replace(/\.ts$/, '')).toSorted();
}

/** Loads a program by its name, the file's without its extension. */
export async function loadProgram(name: string): Promise<Program> {
  return await import(new URL(`./programs/${name}.ts`, import.meta.url).href);
}

/** Loads a package, or nothing when ours has no entry point yet. */
export async function loadPackage(name: PackageName): Promise<Sdk | undefined> {
  if (name === 'official') return await import('@anthropic-ai/claude-agent-sdk');
  const entries = ['../src/entry/index.ts', '../dist/entry/index.js'];
  const urls = entries.map((entry) => new URL(entry, import.meta.url));
  const found = urls.find((url) => existsSync(url));
  return found && (await import(found.href));
}
