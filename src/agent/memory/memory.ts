import { dirname, join, relative, sep } from 'node:path';
import { visibleText } from '../../base/text/display-text.ts';
import { isWithin, realPath } from '../../config/files/read-text.ts';
import type { SessionHooks } from '../../hooks/session-hooks.ts';
import type { InstructionsLoadedHookInput } from '../../protocol/hook.ts';
import type { ToolOutcome, ToolUse } from '../loop/run-calls.ts';
import {
  type MemoryFile,
  type MemoryOptions,
  MemoryReader,
  type MemoryScope,
  type MemorySet,
  rulesFor,
} from './memory-files.ts';

type MemoryDeps = {
  readonly hooks: SessionHooks;
  /** Resolves the path in a call. */
  absolutePath(path: string): string;
  /** Receives warnings, one line each. */
  note(text: string): void;
};

/** A memory file as `get_context_usage` reports it. */
export type MemoryUsage = { readonly path: string; readonly type: string; readonly tokens: number };

type Reason = InstructionsLoadedHookInput['load_reason'];

/**
 * The memory files of one session, as reminders: those of the start before the first prompt and to each sub-agent, those
 * of folders and rules for paths after the model has read a file that they are about.
 */
export class Memory {
  readonly #options: MemoryOptions;
  readonly #deps: MemoryDeps;
  #reader: MemoryReader;
  #start: MemorySet | undefined;
  /** The files of folders below the working directory, by folder; each folder is read once. */
  #folders = new Map<string, readonly MemoryFile[]>();
  /** The files that the conversation contains. */
  #sent = new Set<MemoryFile>();

  constructor(options: MemoryOptions, deps: MemoryDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#reader = new MemoryReader(options);
  }

  /** The auto-memory folder, with a slash at the end; undefined if there is none. */
  get autoFolder(): string | undefined {
    const [folder] = this.#options.autoFolders ?? [];
    return folder === undefined ? undefined : folder + sep;
  }

  /** The files in the conversation. */
  get usage(): MemoryUsage[] {
    return [...this.#sent].map(({ path, scope, tokens }) => ({ path, type: TYPES[scope], tokens }));
  }

  /** Forgets what was read, because another conversation starts. */
  clear(): void {
    this.#reader = new MemoryReader(this.#options);
    this.#start = undefined;
    this.#folders = new Map();
    this.#sent = new Set();
  }

  async beforePrompt({ isFirst }: { readonly isFirst: boolean }, signal: AbortSignal): Promise<string[]> {
    if (!isFirst) return [];
    const isCompacted = this.#sent.size > 0;
    const { files, ignored } = this.#load();
    this.#sent = new Set(files);
    if (!isCompacted) {
      for (const { path, reason, isUnexpected } of ignored)
        if (isUnexpected) this.#deps.note(`memory file ${visibleText(path)} is ignored: ${reason}`);
    }
    await this.#report(files, isCompacted ? 'compact' : 'session_start', {}, signal);
    return startText(files);
  }

  beforeSubAgent(): string[] {
    return startText(this.#load().files);
  }

  async afterRound(
    { calls, outcomes }: { readonly calls: readonly ToolUse[]; readonly outcomes: readonly ToolOutcome[] },
    signal: AbortSignal,
  ): Promise<string[]> {
    const paths = calls.flatMap((call, at) => (outcomes[at]?.isError ? [] : readPath(call)));
    const texts: string[] = [];
    for (const given of paths) {
      const path = realPath(this.#deps.absolutePath(given));
      if (!isWithin(path, this.#options.cwd)) continue;
      const { nested, rules } = this.#filesAbout(path);
      for (const file of [...nested, ...rules]) this.#sent.add(file);
      const trigger = { trigger_file_path: path };
      await this.#report(nested, 'nested_traversal', trigger, signal);
      await this.#report(rules, 'path_glob_match', trigger, signal);
      texts.push(
        ...[...nested, ...rules].map(({ path: of, text }) => `Contents of ${visibleText(of)}:\n\n${text}`),
      );
    }
    return texts;
  }

  #load(): MemorySet {
    this.#start ??= this.#reader.readStart();
    return this.#start;
  }

  /** The files about a path that the conversation does not contain yet. */
  #filesAbout(path: string): {
    readonly nested: readonly MemoryFile[];
    readonly rules: readonly MemoryFile[];
  } {
    const { cwd, userHome } = this.#options;
    const start = this.#load();
    const below = foldersBetween(cwd, dirname(path)).flatMap((folder) => {
      const known = this.#folders.get(folder) ?? this.#reader.readDirectory(folder);
      this.#folders.set(folder, known);
      return known;
    });
    const isNew = (file: MemoryFile) => !this.#sent.has(file);
    const limited = [...start.rules, ...below.filter(({ globs }) => globs !== undefined)];
    return {
      nested: below.filter((file) => file.globs === undefined && isNew(file)),
      rules: rulesFor(limited, path, userHome).filter(isNew),
    };
  }

  async #report(
    files: readonly MemoryFile[],
    reason: Reason,
    more: { readonly trigger_file_path?: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { hooks } = this.#deps;
    if (!hooks.has('InstructionsLoaded')) return;
    const reported = files.filter(({ scope }) => scope !== 'auto');
    await Promise.all(
      reported.map(({ path, scope, importedBy, globs }) =>
        hooks.run(
          'InstructionsLoaded',
          {
            file_path: path,
            memory_type: TYPES[scope] as InstructionsLoadedHookInput['memory_type'],
            load_reason: importedBy === undefined || reason === 'compact' ? reason : 'include',
            ...(globs && { globs: [...globs] }),
            ...more,
            ...(importedBy !== undefined && { parent_file_path: importedBy }),
          },
          signal,
        ),
      ),
    );
  }
}

const TYPES: Readonly<Record<MemoryScope, string>> = {
  user: 'User',
  project: 'Project',
  local: 'Local',
  auto: 'AutoMem',
};

/** What a file is, for the model. */
const KINDS: Readonly<Record<MemoryScope, string>> = {
  user: 'instructions of the user for all projects',
  project: 'instructions of the project',
  local: 'instructions of the user for this project',
  auto: 'index of your notes from earlier conversations in this project',
};

const INTRODUCTION =
  'The user and the project have written these instructions for you. Follow them; where they differ from your defaults, they apply.';

function startText(files: readonly MemoryFile[]): string[] {
  if (files.length === 0) return [];
  const parts = files.map(
    ({ path, scope, text }) => `Contents of ${visibleText(path)} (${KINDS[scope]}):\n\n${text}`,
  );
  return [[INTRODUCTION, ...parts].join('\n\n')];
}

function readPath({ name, input }: ToolUse): string[] {
  const path = (input as { readonly file_path?: unknown } | null)?.file_path;
  return name === 'Read' && typeof path === 'string' ? [path] : [];
}

/** The folders below `top` that lead to `folder`, the highest first. */
function foldersBetween(top: string, folder: string): string[] {
  const steps = relative(top, folder)
    .split(sep)
    .filter((it) => it !== '')
    .slice(0, MAX_FOLDER_DEPTH);
  return steps.map((_, at) => join(top, ...steps.slice(0, at + 1)));
}

const MAX_FOLDER_DEPTH = 50;

/** What the system prompt says about the auto-memory folder. */
export function autoMemoryText(folder: string): string {
  return `# Notes for later conversations
The folder ${visibleText(folder)} keeps your notes about this project between conversations. You may read and write files in it without asking. Write down what will still be useful later and is not in the project itself: preferences of the user, corrections, decisions and their reasons. Keep one topic per file, and one line for each file in its index, MEMORY.md: the beginning of the index (200 lines) is part of every conversation. Correct notes that have become wrong. Never store secrets.`;
}
