import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { redactText } from '../../base/redact.ts';
import type { AgentFlags } from './flag-table.ts';

/** The prompts that stand in files. */
export type PromptFiles = {
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  readonly faults: readonly string[];
};

type Flags = Pick<AgentFlags, 'systemPromptFile' | 'appendSystemPromptFile'>;

/** Reads the files that flags name for prompts; one that cannot be read is a fault. */
export async function readPromptFiles(flags: Flags, cwd: string): Promise<PromptFiles> {
  const faults: string[] = [];
  const text = async (flag: string, path: string | undefined): Promise<string | undefined> => {
    if (path === undefined) return undefined;
    try {
      return await readFile(resolve(cwd, path), 'utf8');
    } catch (cause) {
      faults.push(`${named(flag, path)} cannot be read (${(cause as NodeJS.ErrnoException).code})`);
      return undefined;
    }
  };
  const systemPrompt = await text('--system-prompt-file', flags.systemPromptFile);
  const appendSystemPrompt = await text('--append-system-prompt-file', flags.appendSystemPromptFile);
  return {
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    faults,
  };
}

/** What is no path may be anything, a secret too, and is not shown. */
function named(flag: string, path: string): string {
  return /^[\w./~@+-]{1,200}$/.test(path) ? `${flag} ${redactText(path)}` : `the file of ${flag}`;
}
