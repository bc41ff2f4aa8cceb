import type { SdkServerEntry } from '../../mcp/connection/connect-context.ts';
import type { ConfigFault, Position, Scope, Source } from '../model.ts';
import type { FileState } from './file-state.ts';

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
export type Found = {
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
  readonly faults: readonly ConfigFault[];
  /** Managed settings that are there and cannot be read: nobody knows what they forbid. */
  readonly unreadPolicies: readonly string[];
  /** Every file that was looked at, whether it is there or not. */
  readonly files: readonly FileState[];
};
