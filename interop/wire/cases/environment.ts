import type { Options, WireCase } from '../case.ts';

const AMBIENT = {
  NODE_OPTIONS: '--no-warnings',
  DEBUG: 'x',
  CLAUDECODE: '1',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  CLAUDE_AGENT_SDK_VERSION: 'spoofed',
  ANTHROPIC_API_KEY: 'sk-dummy',
  OTHER: 'kept',
};

const SPAWN_ROWS: Readonly<Record<string, Options>> = {
  'nothing set': {},
  'executable node': { executable: 'node' },
  'executable bun': { executable: 'bun', spawnClaudeCodeProcess: refuse },
  'executable deno': { executable: 'deno', spawnClaudeCodeProcess: refuse },
  executableArgs: { executableArgs: ['--no-warnings', '--max-old-space-size=256'] },
  'executable node with executableArgs': { executable: 'node', executableArgs: ['--no-warnings'] },
  'cwd omitted': { cwd: undefined } as unknown as Options,
  'path without extension': {
    pathToClaudeCodeExecutable: '/elsewhere/agent',
    spawnClaudeCodeProcess: refuse,
  },
  'path without extension, with executableArgs': {
    pathToClaudeCodeExecutable: '/elsewhere/agent',
    executable: 'node',
    executableArgs: ['--no-warnings'],
    spawnClaudeCodeProcess: refuse,
  },
  'path .js': { pathToClaudeCodeExecutable: '/elsewhere/cli.js', spawnClaudeCodeProcess: refuse },
  'path .cjs': { pathToClaudeCodeExecutable: '/elsewhere/cli.cjs', spawnClaudeCodeProcess: refuse },
  'path .ts': { pathToClaudeCodeExecutable: '/elsewhere/cli.ts', spawnClaudeCodeProcess: refuse },
  'path .tsx': { pathToClaudeCodeExecutable: '/elsewhere/cli.tsx', spawnClaudeCodeProcess: refuse },
  'path .jsx': { pathToClaudeCodeExecutable: '/elsewhere/cli.jsx', spawnClaudeCodeProcess: refuse },
  'path .exe': { pathToClaudeCodeExecutable: '/elsewhere/cli.exe', spawnClaudeCodeProcess: refuse },
  'path .sh': { pathToClaudeCodeExecutable: '/elsewhere/cli.sh', spawnClaudeCodeProcess: refuse },
  'path bare name': { pathToClaudeCodeExecutable: 'agent', spawnClaudeCodeProcess: refuse },
};

/** Where the process comes from and what surrounds it. */
export const ENVIRONMENT_CASES: readonly WireCase[] = [
  { name: 'env: inherited', environment: 'inherited', ambient: AMBIENT },
  { name: 'env: option replaces', options: () => ({ env: { A: 'b', GONE: undefined } }), ambient: AMBIENT },
  { name: 'env: option carries the same keys', options: () => ({ env: AMBIENT }) },
  {
    name: 'env: DEBUG_CLAUDE_AGENT_SDK in this process',
    ambient: { DEBUG_CLAUDE_AGENT_SDK: '1' },
    environment: 'inherited',
  },
  { name: 'env: DEBUG_CLAUDE_AGENT_SDK in this process only', ambient: { DEBUG_CLAUDE_AGENT_SDK: '1' } },
  {
    name: 'env: DEBUG_CLAUDE_AGENT_SDK in the option',
    options: () => ({ env: { DEBUG_CLAUDE_AGENT_SDK: '1' } }),
  },
  {
    name: 'env: checkpointing',
    options: () => ({ enableFileCheckpointing: true }),
    environment: 'inherited',
  },
  {
    name: 'env: previewFormat markdown',
    options: () => ({ toolConfig: { askUserQuestion: { previewFormat: 'markdown' } } }),
  },
  { name: 'env: toolConfig empty', options: () => ({ toolConfig: {} }) },
  { name: 'env: client app', options: () => ({ env: { CLAUDE_AGENT_SDK_CLIENT_APP: 'app/1' } }) },
  ...Object.entries(SPAWN_ROWS).map(([name, options]) => ({
    name: `spawn: ${name}`,
    options: () => options,
    spawn: 'hook' as const,
  })),
  { name: 'spawn: missing executable', options: () => ({ pathToClaudeCodeExecutable: '/nowhere/cli.mjs' }) },
  {
    name: 'spawn: missing native executable',
    options: () => ({ pathToClaudeCodeExecutable: '/nowhere/cli' }),
  },
  { name: 'spawn: missing cwd', options: () => ({ cwd: '/nowhere' }) },
];

/** Shows what would have been spawned in the outcome of the case, without spawning it. */
function refuse({ command, args }: { command: string; args: string[] }): never {
  throw new Error(`would run ${JSON.stringify([command, ...args.slice(0, 3)])}`);
}
