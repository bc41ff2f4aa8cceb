import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { redactText } from '../../base/redact.ts';
import type { ServerEntry } from '../connect/world.ts';
import type { RuleSource } from '../permission/rule.ts';
import { parseObject } from './flag-kind.ts';
import type { AgentFlags } from './flag-table.ts';
import { readMcpConfig } from './mcp-config.ts';
import { EMPTY_SETTINGS, type LaunchSettings, readSettings } from './read-settings.ts';

/** What the files say that flags name, beside what flags say themselves. */
export type FlagFiles = {
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly settings: LaunchSettings;
  /** What was set for the person: their policy. */
  readonly managed: LaunchSettings;
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  readonly faults: readonly string[];
  readonly notes: readonly string[];
};

/** Reads every file that a flag names; a file that cannot be read is a fault. Of two servers with one key the later counts. */
export async function loadFlagFiles(flags: AgentFlags, cwd: string): Promise<FlagFiles> {
  const faults: string[] = [];
  const notes: string[] = [];
  const text = async (flag: string, path: string | undefined): Promise<string | undefined> => {
    if (path === undefined) return undefined;
    try {
      return await readFile(resolve(cwd, path), 'utf8');
    } catch (cause) {
      faults.push(`${named(flag, path)} cannot be read (${(cause as NodeJS.ErrnoException).code})`);
      return undefined;
    }
  };
  /** JSON text begins as such; everything else is a path. */
  const json = async (flag: string, value: string): Promise<{ where: string; raw: unknown } | undefined> => {
    const isInline = /^\s*[{[]/.test(value);
    const where = isInline ? flag : named(flag, value);
    const content = isInline ? value : await text(flag, value);
    if (content === undefined) return undefined;
    const raw = parseObject(content);
    if (!raw) faults.push(`${where} is no JSON object`);
    return raw && { where, raw };
  };

  const servers: Record<string, ServerEntry> = {};
  for (const config of flags.mcpConfigs ?? []) {
    const found = await json('--mcp-config', config);
    if (!found) continue;
    const read = readMcpConfig(found.raw, found.where);
    Object.assign(servers, read.servers);
    faults.push(...read.faults);
  }

  const settled = (found: { where: string; raw: unknown } | undefined, source: RuleSource) => {
    if (!found) return EMPTY_SETTINGS;
    const read = readSettings(found.raw, found.where, source);
    faults.push(...read.faults);
    notes.push(...read.notes);
    return read.settings;
  };
  const settings = settled(flags.settings ? await json('--settings', flags.settings) : undefined, 'cliArg');
  const { managedSettings: raw } = flags;
  const managed = settled(raw && { where: '--managed-settings', raw }, 'policySettings');

  const systemPrompt = await text('--system-prompt-file', flags.systemPromptFile);
  const appendSystemPrompt = await text('--append-system-prompt-file', flags.appendSystemPromptFile);
  return {
    servers,
    settings,
    managed,
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    faults,
    notes,
  };
}

/** What is no path may be anything, a secret too, and is not shown. */
function named(flag: string, path: string): string {
  return /^[\w./~@+-]{1,200}$/.test(path) ? `${flag} ${redactText(path)}` : `the file of ${flag}`;
}
