import { isRecord } from '../base/is-record.ts';
import type { Options, Settings } from './options.ts';

/** What `--settings` carries: a path or JSON text, with the sandbox option merged in. */
export function settingsText(options: Options): string | undefined {
  const { settings, sandbox, extraArgs } = options;
  const given = settings === '' ? undefined : (settings ?? extraArgs?.settings ?? undefined);
  if (!sandbox) return typeof given === 'string' || given === undefined ? given : JSON.stringify(given);
  const base: Settings = typeof given === 'string' ? (JSON.parse(given) as Settings) : (given ?? {});
  const own = isRecord(base.sandbox) ? base.sandbox : {};
  const merged = mergeSandbox(own, sandbox);
  if (sandbox.enabled === true && merged.failIfUnavailable === undefined) merged.failIfUnavailable = true;
  return JSON.stringify({ ...base, sandbox: merged });
}

/** Restrictions of both sides hold; members the option sets replace these; two are replaced whole. */
const UNITED = new Set(['denyRead', 'denyWrite', 'deniedDomains', 'files', 'envVars']);
const WHOLE = new Set(['ripgrep', 'tlsTerminate']);

function mergeSandbox(base: Settings, option: Settings): Settings {
  const merged = dropLoosening(base, option);
  for (const [key, value] of Object.entries(option)) {
    if (value === undefined) continue;
    const known = merged[key];
    if (UNITED.has(key) && Array.isArray(known) && Array.isArray(value)) merged[key] = unite(known, value);
    else if (isRecord(known) && isRecord(value) && !WHOLE.has(key)) merged[key] = mergeSandbox(known, value);
    else merged[key] = value;
  }
  return merged;
}

/** A switch in the settings that would turn off what the option restricts does not survive. */
function dropLoosening(base: Settings, option: Settings): Settings {
  const kept = { ...base };
  const { filesystem, network, credentials } = option as Record<string, Settings | undefined>;
  const deniesFiles = Array.isArray(credentials?.files) && credentials.files.length > 0;
  if ((filesystem || deniesFiles) && isRecord(kept.filesystem) && kept.filesystem.disabled === true) {
    const { disabled: _, ...rest } = kept.filesystem;
    kept.filesystem = rest;
  }
  const denied = network?.deniedDomains;
  const restrictsNetwork =
    network?.allowedDomains !== undefined ||
    (Array.isArray(denied) && denied.length > 0) ||
    network?.strictAllowlist === true;
  if (restrictsNetwork && isRecord(kept.network)) {
    const ports = ['httpProxyPort', 'socksProxyPort'].filter((port) => network?.[port] === undefined);
    kept.network = Object.fromEntries(Object.entries(kept.network).filter(([key]) => !ports.includes(key)));
  }
  return kept;
}

function unite(a: unknown[], b: unknown[]): unknown[] {
  const seen = new Set(a.map((item) => JSON.stringify(item)));
  return [...a, ...b.filter((item) => !seen.has(JSON.stringify(item)))];
}
