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
  /** Which file, flag or address its entry stands in. */
  readonly label: string;
  /** Only `ready` ones are started; `toolplane mcp approve` decides about pending ones. */
  readonly state: 'ready' | 'pending' | 'rejected' | 'blocked' | 'disabled' | 'broken';
};

/** The loaded configuration. In a host with `configuration` it follows changes of the files. */
export type LoadedConfiguration = {
  /** Every name that somebody configured. */
  readonly servers: readonly ConfiguredServerView[];
  /** What is wrong, a line each: file, line, column, and what to do. */
  readonly faults: readonly string[];
  /** Where a server's entry comes from and why it counts or does not. */
  explain(server: string): ServerExplanation;
  /** What a host runs with. */
  readonly running: RunningConfiguration;
};

/** Options of `loadConfiguration()`. */
export type ConfigurationOptions = {
  /** The directory whose project counts; by default where the program runs. */
  cwd?: string;
  /** Where variables come from, `HOME` and `TOOLPLANE_HOME` too; by default the program's own. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Files with "mcpServers", or their texts; they beat what is configured, and of two the later. */
  mcpConfig?: string | string[];
  /** No servers but those of `mcpConfig` and of those who run the machine. */
  strictMcpConfig?: boolean;
  /** Which of these files count; by default all. */
  settingSources?: ('user' | 'project' | 'local')[];
  /** Directories of plugins. */
  plugins?: string[];
  /** `once`: what is saved later does not count; by default a host that runs follows it. */
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
