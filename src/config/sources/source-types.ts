import type { SdkServerEntry } from '../../mcp/connection/connect-context.ts';
import type { ConfigDiagnostic, Position, Scope, Source } from '../model.ts';

/** One settings file or flag that is there and could be read. */
export type SettingsSource = {
  readonly scope: Extract<Scope, 'user' | 'project' | 'local' | 'program' | 'managed'>;
  readonly label: string;
  readonly path?: string;
  readonly value: Readonly<Record<string, unknown>>;
  locate(path: readonly (string | number)[]): Position | undefined;
};

/** A remote catalogue of servers, and the settings that name it. */
export type ConnectorSetting = {
  readonly url: string;
  /** Not expanded yet. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The address without what may be secret in it. */
  readonly label: string;
};

/** Everything that was found. */
export type FoundSources = {
  /** The repository the directory belongs to; where projects' files are looked for up to. */
  readonly root?: string;
  /** The lowest first; within a scope, the nearest directory and the later flag last. */
  readonly sources: readonly Source[];
  /** The same order; but of managed ones the system's own are the last, since they beat what a variable or a flag adds. */
  readonly settings: readonly SettingsSource[];
  /** The catalogues that settings name; what they said last stands in `sources`. */
  readonly connectors: readonly ConnectorSetting[];
  /** Servers in the program itself that `--mcp-config` names: the driver's own, which have a name before all others. */
  readonly program: Readonly<Record<string, SdkServerEntry>>;
  /** Of settings files that could not be read, and of what they name; those of `sources` stand there. */
  readonly faults: readonly ConfigDiagnostic[];
  /** Managed settings that are there and cannot be read: nobody knows what they forbid. */
  readonly unreadPolicies: readonly string[];
  /** Every file that was looked at, whether it is there or not. */
  readonly files: readonly FileState[];
};
/** What flags and programs say about configuration. */
export type ConfigFlags = {
  /** `--setting-sources`; all of them by default. */
  readonly scopes?: readonly string[];
  /** `--mcp-config`: JSON texts and paths, in the order given. */
  readonly mcpConfigs?: readonly string[];
  /** `--strict-mcp-config`: no servers but those of `mcpConfigs`. */
  readonly isStrict?: boolean;
  /** `--plugin-dir`: directories with an `.mcp.json` of their own. */
  readonly pluginDirs?: readonly string[];
  /** `--settings`: a JSON text or a path. */
  readonly settings?: string;
  /** `--managed-settings`: policy that a program hands on. */
  readonly managedSettings?: Readonly<Record<string, unknown>>;
};

/** What a file, a flag or a cache holds, wherever it was read. */
export type Content =
  | { readonly state: 'absent' }
  | { readonly state: 'unusable'; readonly fault: string; readonly position?: Position }
  | ReadContent;

export type ReadContent = {
  readonly state: 'read';
  readonly value: Readonly<Record<string, unknown>>;
  /** Nothing stands in it: somebody may be about to write it. */
  readonly isBlank?: true;
  /** What counts and may not be what was meant. */
  readonly warnings: readonly {
    readonly key: string;
    readonly message: string;
    readonly position: Position;
  }[];
  locate(path: readonly (string | number)[]): Position | undefined;
};

/** A value that somebody else has parsed: there is no text, so nothing has a place. */
export function contentOfValue(value: Readonly<Record<string, unknown>>): ReadContent {
  return { state: 'read', value, warnings: [], locate: () => undefined };
}

/** A file that was looked at, as it was found. */
export type FileState = {
  readonly path: string;
  readonly label: string;
  /** `blank`: it is there, and nothing stands in it. */
  readonly state: 'absent' | 'unusable' | 'blank' | 'read';
};

export function fileState(path: string, label: string, content: Content): FileState {
  const isBlank = content.state === 'read' && content.isBlank === true;
  return { path, label, state: isBlank ? 'blank' : content.state };
}
