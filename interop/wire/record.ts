import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Options, Query, Recording, Sdk, UserMessage, WireCase } from './case.ts';
import { normaliseJson, normaliser } from './normalise.ts';
import { readRecorderLog } from './recorder-log.ts';

const CLI = fileURLToPath(new URL('recorder-cli.mjs', import.meta.url));
const OWN_VARIABLES = ['TOOLPLANE_WIRE_LOG', 'TOOLPLANE_WIRE_SCENARIO'];
const DEADLINE_MS = 20_000;

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

async function drive(sdk: Sdk, wireCase: WireCase, options: () => Options): Promise<unknown> {
  const messages: string[] = [];
  let acted: unknown;
  const held = Promise.withResolvers<void>();
  let when = 'query()';
  try {
    const prompt = wireCase.prompt ?? (wireCase.act ? openInput(held.promise) : 'hello');
    const query = await start(sdk, wireCase, typeof prompt === 'function' ? prompt() : prompt, options());
    when = 'iteration';
    const timer = setTimeout(() => {
      messages.push('deadline passed');
      query.close();
    }, DEADLINE_MS);
    try {
      for await (const message of query) {
        const first = !messages.includes('result success');
        messages.push('subtype' in message ? `${message.type} ${String(message.subtype)}` : message.type);
        if (message.type === 'result' && first && wireCase.act) {
          acted = act(query, sdk, wireCase.act).finally(held.resolve);
        }
      }
    } finally {
      clearTimeout(timer);
    }
    return { messages, acted: await acted };
  } catch (error) {
    held.resolve();
    return { messages, acted: await acted, failed: { when, ...describe(error, sdk) } };
  }
}

async function act(query: Query, sdk: Sdk, run: NonNullable<WireCase['act']>): Promise<unknown> {
  try {
    const value = await run(query, sdk);
    return value === undefined ? 'undefined' : value;
  } catch (error) {
    return { rejected: describe(error, sdk) };
  }
}

async function start(
  sdk: Sdk,
  wireCase: WireCase,
  prompt: string | AsyncIterable<UserMessage>,
  options: Options,
): Promise<Query> {
  if (wireCase.start !== 'startup') return sdk.query({ prompt, options });
  const warm = await sdk.startup({ options });
  return warm.query(prompt);
}

/** Names and texts are part of the contract; classes are not, as a bundle may rename them. */
function describe(error: unknown, sdk: Sdk): Record<string, unknown> {
  if (!(error instanceof Error)) return { thrown: String(error) };
  const { name, message } = error;
  const { code, errorCode, exitCode } = error as { code?: unknown; errorCode?: unknown; exitCode?: unknown };
  return { name, message, isAbort: error instanceof sdk.AbortError, code, errorCode, exitCode };
}

function openInput(held: Promise<void>): () => AsyncIterable<UserMessage> {
  return async function* () {
    yield { type: 'user', message: { role: 'user', content: 'hello' }, parent_tool_use_id: null };
    await held;
  };
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
