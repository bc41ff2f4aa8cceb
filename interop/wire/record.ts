import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Options, Recording, Sdk, WireCase } from './case.ts';
import { drive } from './drive.ts';
import { normaliseJson, normaliser } from './normalise.ts';
import { readRecorderLog } from './recorder-log.ts';

const CLI = fileURLToPath(new URL('recorder-cli.mjs', import.meta.url));
const OWN_VARIABLES = ['TOOLPLANE_WIRE_LOG', 'TOOLPLANE_WIRE_SCENARIO'];

/** Runs one case with one SDK against the recorder CLI. Cases share `process.env`, so run them one by one. */
export async function record(sdk: Sdk, wireCase: WireCase): Promise<Recording> {
  const home = mkdtempSync(join(tmpdir(), 'wire-'));
  try {
    return await recordIn(home, sdk, wireCase);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function recordIn(home: string, sdk: Sdk, wireCase: WireCase): Promise<Recording> {
  const logFile = join(home, 'wire.log');
  const cwd = join(home, 'cwd');
  mkdirSync(cwd);
  const own = {
    TOOLPLANE_WIRE_LOG: logFile,
    TOOLPLANE_WIRE_SCENARIO: JSON.stringify(wireCase.scenario ?? {}),
  };
  const inherited = wireCase.environment === 'inherited';
  using _ambient = ambient({ HOME: home, ...wireCase.ambient, ...(inherited ? own : {}) });
  const spawned: unknown[] = [];
  const outcome = await drive(sdk, wireCase, () => {
    const options = wireCase.options?.(sdk) ?? {};
    const env = { PATH: process.env.PATH, HOME: home, ...options.env, ...own };
    return {
      cwd,
      pathToClaudeCodeExecutable: CLI,
      ...(wireCase.spawn === 'hook' ? { spawnClaudeCodeProcess: spawnHook(spawned) } : {}),
      ...options,
      ...(inherited ? {} : { env }),
    };
  });
  const log = readRecorderLog(logFile);
  const stdin = log?.stdin ?? [];
  const places = new Map([
    [CLI, '<cli>'],
    [cwd, '<cwd>'],
    [home, '<home>'],
    [tmpdir(), '<tmp>'],
    [process.execPath, '<node>'],
    [dirname(process.execPath), '<node-dir>'],
  ]);
  const normalise = normaliser(places, stdin);
  const env = Object.entries(log?.env ?? {}).filter(([key]) => !OWN_VARIABLES.includes(key));
  return {
    argv: (log?.argv ?? []).map(normalise),
    execArgv: (log?.execArgv ?? []).map(normalise),
    env: Object.fromEntries(env.map(([key, value]) => [key, stableValue(key, normalise(value))]).sort()),
    stdin: stdin.map(normalise),
    order: log?.order ?? [],
    spawned: normaliseJson(spawned, normalise),
    outcome: normaliseJson(outcome, normalise),
  };
}

function stableValue(key: string, value: string): string {
  const isVersion = key === 'CLAUDE_AGENT_SDK_VERSION' && /^\d+\.\d+\.\d+/.test(value);
  return isVersion || key === 'PATH' ? `<${key}>` : value;
}

function spawnHook(spawned: unknown[]): NonNullable<Options['spawnClaudeCodeProcess']> {
  return ({ command, args, cwd, env, signal, ...rest }) => {
    spawned.push({ command, args, cwd, env: Object.keys(env).sort(), aborted: signal.aborted, ...rest });
    return spawn(command, args, { cwd, env: env as NodeJS.ProcessEnv, stdio: ['pipe', 'pipe', 'ignore'] });
  };
}

/** Sets variables of this process and, at the end, puts the whole environment back: SDKs write to it too. */
function ambient(variables: Readonly<Record<string, string>>): Disposable {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  return {
    [Symbol.dispose]() {
      for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key];
      Object.assign(process.env, before);
    },
  };
}
