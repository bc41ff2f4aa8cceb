import type { Configuration } from './configuration.ts';
import { explainServer } from './explain/explain-server.ts';
import type { ServerExplanation } from './explain/explanation.ts';
import { faultText } from './fault-text.ts';
import type { Scope } from './model.ts';
import { RunningConfiguration, type Use } from './running.ts';

/** A configured server, and whether it may be started. */
export type ConfiguredServerView = {
  readonly name: string;
  readonly scope: Scope;
  /** The file, flag or URL that contains the entry. */
  readonly label: string;
  /** Only `ready` servers are started. `toolplane mcp approve` approves pending ones. */
  readonly state: 'ready' | 'pending' | 'rejected' | 'blocked' | 'disabled' | 'broken';
};

/** The loaded configuration. In a host with `configuration` it follows changes of the files. */
export type LoadedConfiguration = {
  /** Every configured server name. */
  readonly servers: readonly ConfiguredServerView[];
  /** Problems, one per line: file, line, column and remedy. */
  readonly faults: readonly string[];
  /** Explains where a server's entry comes from and why it is active or ignored. */
  explain(server: string): ServerExplanation;
  /** Used by `createHost()`. */
  readonly running: RunningConfiguration;
};

/** Options of `loadConfiguration()`. */
export type ConfigurationOptions = {
  /** The directory whose project configuration is used. Default: the working directory. */
  cwd?: string;
  /** Environment variables, including `HOME` and `TOOLPLANE_HOME`. Default: those of the program. */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * Files with "mcpServers", or their JSON text. They take precedence over configured servers; later ones over
   * earlier ones.
   */
  mcpConfig?: string | string[];
  /** Use only servers of `mcpConfig` and managed servers. */
  strictMcpConfig?: boolean;
  /** Which settings files are read. Default: all. */
  settingSources?: ('user' | 'project' | 'local')[];
  /** Directories of plugins. */
  plugins?: string[];
  /** `once`: later changes of the files are ignored. By default a running host applies them. */
  changes?: 'followed' | 'once';
};

/** A configuration as programs see it. */
export function loadedConfiguration(configuration: Configuration, use: Use = {}): LoadedConfiguration {
  const running = new RunningConfiguration(configuration, use);
  return {
    get servers() {
      return running.current.merged.servers.map(({ name, verdict, written }) => ({
        name,
        scope: written.scope,
        label: written.label,
        state: verdict.kind,
      }));
    },
    get faults() {
      return running.current.faults.map(faultText);
    },
    explain: (server) => explainServer(running.current, server),
    running,
  };
}
