/** What flags and programs say about configuration. */
export type Wanted = {
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
