import type { SdkServerEntry } from '../../mcp/connection/connect-context.ts';
import type { FlagNames } from '../../protocol/launch-flag.ts';
import type { Document } from '../files/read-document.ts';
import { type ConfigDiagnostic, type Position, SCOPES, type Scope, type Source } from '../model.ts';
import { claudeSettings } from './claude-settings.ts';

/** A settings file or flag that could be read. */
export type SettingsSource = {
  readonly scope: Extract<Scope, 'user' | 'project' | 'local' | 'program' | 'managed'>;
  readonly label: string;
  readonly path?: string;
  /** A file of the `claude` CLI; `value` has only the keys that Toolplane uses. Toolplane never writes to such files. */
  readonly format?: 'claude';
  /** The keys of such a file that Toolplane does not use. */
  readonly unused?: readonly string[];
  readonly value: Readonly<Record<string, unknown>>;
  locate(path: readonly (string | number)[]): Position | undefined;
};

/** The settings in a document; none if it is missing or unusable. */
export function settingsSources(
  { scope, label, path, format }: Pick<SettingsSource, 'scope' | 'label' | 'path' | 'format'>,
  document: Document | undefined,
): SettingsSource[] {
  if (document?.state !== 'read') return [];
  const { value, locate } = document;
  const source = { scope, label, ...(path !== undefined && { path }), locate };
  return [
    format === 'claude' ? { ...source, format, ...claudeSettings(value, scope) } : { ...source, value },
  ];
}

/** Compares the precedence of settings: files of the `claude` CLI come first, except the administrator's. */
export function compareSettings(one: SettingsRank, other: SettingsRank): number {
  const rank = ({ scope, format }: SettingsRank) =>
    SCOPES.indexOf(scope) - (format === 'claude' && scope !== 'managed' ? SCOPES.length : 0);
  return rank(one) - rank(other);
}

type SettingsRank = Pick<SettingsSource, 'scope' | 'format'>;

/** A remote catalog of servers that settings name. */
export type ConnectorSetting = {
  readonly url: string;
  /** Variables are not substituted yet. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The URL without the parts that may be secret. */
  readonly label: string;
};

/** Everything that was found. */
export type FoundSources = {
  /** The repository that contains the working directory; project files are searched up to it. */
  readonly root?: string;
  /** Lowest precedence first; within a scope, the nearest directory and the later flag last. */
  readonly sources: readonly Source[];
  /**
   * The same order, except that of managed settings the system's own come last: they override those that a variable or a
   * flag adds.
   */
  readonly settingsSources: readonly SettingsSource[];
  /** The catalogs that settings name; their cached content is in `sources`. */
  readonly connectors: readonly ConnectorSetting[];
  /** The plugins, lowest precedence first. */
  readonly plugins: readonly { readonly name: string; readonly directory: string }[];
  /** In-process servers that `--mcp-config` names; they shadow all other servers of the same name. */
  readonly program: Readonly<Record<string, SdkServerEntry>>;
  /** Problems of settings files, and of the plugins and connectors they name; those of `sources` are in `sources`. */
  readonly sourceFaults: readonly ConfigDiagnostic[];
  /** Managed settings files that exist and cannot be read, so that what they forbid is unknown. */
  readonly unreadPolicies: readonly string[];
  /** Every file that was looked for, including missing ones. */
  readonly files: readonly FileState[];
};

/** Configuration that flags and programs pass. */
export type ConfigFlags = {
  /** How messages name a flag; as on the command line by default. */
  readonly nameOf?: FlagNames;
  /** `--setting-sources`; all by default. */
  readonly scopes?: readonly string[];
  /** `--mcp-config`: JSON texts and paths, in the order given. */
  readonly mcpConfigs?: readonly string[];
  /** `--strict-mcp-config`: no servers but those of `mcpConfigs`. */
  readonly isStrict?: boolean;
  /** `--plugin-dir`: directories with an `.mcp.json` of their own. */
  readonly pluginDirs?: readonly string[];
  /** `--settings`: a JSON text or a path. */
  readonly settings?: string;
  /** `--managed-settings`: policy that a program passes on. */
  readonly managedSettings?: Readonly<Record<string, unknown>>;
};

/** A file that was looked for, and its state. */
export type FileState = {
  readonly path: string;
  readonly label: string;
  /** `blank`: the file exists and is empty. */
  readonly state: 'absent' | 'unusable' | 'blank' | 'read';
};

export function fileState(path: string, label: string, document: Document): FileState {
  const isBlank = document.state === 'read' && document.isBlank === true;
  return { path, label, state: isBlank ? 'blank' : document.state };
}
