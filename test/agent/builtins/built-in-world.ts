import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { BuiltIn, BuiltInContext } from '../../../src/agent/builtins/built-in.ts';
import { FileMemory } from '../../../src/agent/builtins/files/file-memory.ts';
import { BackgroundProcesses } from '../../../src/agent/builtins/shell/background-processes.ts';
import { WakeQueue } from '../../../src/agent/builtins/wake-queue.ts';
import type { ToolOutcome } from '../../../src/agent/loop/run-calls.ts';
import { BackgroundTasks } from '../../../src/agent/tasks/background-tasks.ts';

/** A temporary directory with the given files for one test; it is removed after the test. */
export function directoryWith(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'built-in-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) put(join(directory, name), content);
  return directory;
}

export function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A context for built-in tools in which all paths are readable and no server can be connected. */
export function worldIn(cwd: string, parts: Partial<BuiltInContext> = {}): BuiltInContext {
  return {
    workspace: { cwd, home: cwd, directories: [] },
    env: { PATH: process.env.PATH, HOME: cwd },
    isReadable: () => true,
    files: new FileMemory(),
    wake: new WakeQueue(),
    services: {},
    toolUseId: 'toolu_1',
    tasks: new BackgroundTasks({ emit() {}, onNotice() {} }),
    outputFile: (id) => join(cwd, '.tasks', `${id}.output`),
    moveShell: () => undefined,
    background: new BackgroundProcesses(),
    connect: async () => ({ kind: 'unknown', available: [] }),
    findTools: async () => ({ tools: [], unknown: [], searchable: 0, servers: [], waiting: [] }),
    resources: {
      list: async () => ({ resources: [], templates: [], faults: [] }),
      read: async () => ({ content: 'nothing is there', isError: true }),
      watch: async () => 'nothing is there',
    },
    ...parts,
  };
}

/** One call with a signal that never aborts. */
export function call(
  tool: BuiltIn,
  input: Readonly<Record<string, unknown>>,
  world: BuiltInContext,
): Promise<ToolOutcome> {
  return tool.run(input, world, new AbortController().signal);
}

export function done(content: string): ToolOutcome {
  return { content, isError: false };
}

export function failed(content: string): ToolOutcome {
  return { content, isError: true };
}
