/** One file of `examples/`. */
export type Example = {
  readonly name: string;
  /** `cli` needs the peers of `interop/` and a build; `nothing` runs after `npm ci`. */
  readonly needs: 'nothing' | 'cli';
  /** Also works with a real model. */
  readonly isLive?: true;
  /** The output differs between runs, so it is not compared with `examples/output/`. */
  readonly isVarying?: true;
};

/** In reading order. */
export const EXAMPLES: readonly Example[] = [
  { name: 'demo', needs: 'nothing' },
  { name: 'quick-start', needs: 'nothing' },
  { name: 'tutorial', needs: 'nothing' },
  { name: 'migration', needs: 'nothing' },
  { name: 'calculator', needs: 'cli', isLive: true },
  { name: 'application-state', needs: 'cli', isLive: true },
  { name: 'schemas', needs: 'nothing' },
  { name: 'results', needs: 'nothing' },
  { name: 'tool-context', needs: 'nothing' },
  { name: 'client-requests', needs: 'nothing' },
  { name: 'live-tools', needs: 'nothing' },
  { name: 'http-server', needs: 'nothing' },
  { name: 'any-mcp-server', needs: 'cli', isLive: true },
  { name: 'mixed-servers', needs: 'cli', isLive: true },
  { name: 'streaming-prompt', needs: 'cli', isLive: true },
  { name: 'streaming-conversation', needs: 'cli', isLive: true },
  { name: 'permissions-and-hooks', needs: 'cli', isLive: true },
  { name: 'own-agent', needs: 'nothing' },
  { name: 'any-model', needs: 'nothing' },
  { name: 'structured-output', needs: 'nothing' },
  { name: 'sub-agents', needs: 'nothing' },
  { name: 'on-demand-servers', needs: 'nothing' },
  { name: 'host', needs: 'nothing' },
  { name: 'host-events', needs: 'nothing' },
  { name: 'authorization', needs: 'nothing' },
  { name: 'long-calls', needs: 'nothing' },
  { name: 'channels', needs: 'nothing' },
  { name: 'host-pool', needs: 'nothing' },
  { name: 'resources', needs: 'nothing' },
  { name: 'tool-search', needs: 'nothing' },
  { name: 'sessions', needs: 'nothing' },
  { name: 'rewind-files', needs: 'nothing' },
  { name: 'shell-hooks', needs: 'nothing' },
  { name: 'command-line', needs: 'nothing' },
  { name: 'acp', needs: 'nothing' },
  { name: 'tools-and-calls', needs: 'nothing' },
  { name: 'tool-cost', needs: 'cli' },
  { name: 'configured-servers', needs: 'nothing' },
  { name: 'configuration', needs: 'nothing' },
  { name: 'own-test', needs: 'nothing', isVarying: true },
  { name: 'telemetry', needs: 'nothing' },
  { name: 'troubleshooting', needs: 'nothing' },
  { name: 'errors', needs: 'nothing' },
];

/** Files of `examples/` that examples import. */
export const SUPPORT = [
  'agent.ts',
  'loopback-model.ts',
  'shell.ts',
  'stand-in-agent.mjs',
  'temperature-tools.ts',
];
