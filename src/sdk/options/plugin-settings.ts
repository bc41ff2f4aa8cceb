/** Where a plugin comes from. */
type PluginSource =
  | string
  | { source: 'npm'; package: string; version?: string; registry?: string }
  | { source: 'url'; url: string; ref?: string; sha?: string }
  | { source: 'github'; repo: string; ref?: string; sha?: string }
  | { source: 'git-subdir'; url: string; path: string; ref?: string; sha?: string }
  | { source: 'archive'; url: string; sha256?: string }
  | { source: 'command'; command: string; timeout?: number; mode?: 'copy' | 'link' }
  | { source: 'unsupported'; error?: string };

type GitCheckout = { ref?: string; path?: string; sparsePaths?: string[]; skipLfs?: boolean };

/** Where a list of plugins comes from. */
type MarketplaceSource =
  | { source: 'url'; url: string; headers?: { [name: string]: string }; headersHelper?: string }
  | ({ source: 'github'; repo: string } & GitCheckout)
  | ({ source: 'git'; url: string } & GitCheckout)
  | { source: 'npm'; package: string; version?: string; registry?: string }
  | { source: 'file'; path: string }
  | { source: 'directory'; path: string }
  | { source: 'skills-dir' }
  | { source: 'hostPattern'; hostPattern: string }
  | { source: 'pathPattern'; pathPattern: string }
  | {
      source: 'settings';
      name: string;
      plugins: {
        name: string;
        source: PluginSource;
        description?: string;
        version?: string;
        strict?: boolean;
        engines?: { [name: string]: unknown };
        headers?: { [name: string]: string };
        headersHelper?: string;
      }[];
      owner?: { name: string; email?: string; url?: string };
    };

type Marketplaces = {
  [name: string]: {
    source: MarketplaceSource;
    installLocation?: string;
    autoUpdate?: boolean;
    pluginDigests?: { [plugin: string]: string[] };
  };
};

type PluginOptions = { [option: string]: string | number | boolean | string[] };

/** Settings of plugins and of the marketplaces they come from. */
export interface PluginSettings {
  enabledPlugins?: { [plugin: string]: string[] | boolean | { [key: string]: unknown } };
  prependPlugins?: string[];
  appendPlugins?: string[];
  pluginConfigs?: {
    [plugin: string]:
      | { mcpServers?: { [server: string]: PluginOptions }; options?: PluginOptions }
      | { [key: string]: unknown };
  };
  pluginTrustMessage?: string;
  pluginSuggestionMarketplaces?: string[];
  extraKnownMarketplaces?: Marketplaces;
  additionalMarketplaces?: Marketplaces;
  strictKnownMarketplaces?: MarketplaceSource[];
  allowedMarketplaces?: MarketplaceSource[];
  blockedMarketplaces?: MarketplaceSource[];
  allowedChannelPlugins?: { marketplace: string; plugin: string }[];
  disableCommandPluginSources?: boolean;
  disableSideloadFlags?: boolean;
  strictPluginOnlyCustomization?: boolean | ('skills' | 'agents' | 'hooks' | 'mcp')[];
  syncClaudeAiPlugins?: boolean;
}
