import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import { firstName, MODEL_ALIASES, resolveModelName } from '../../agent/launch/model-name.ts';
import type { TranscriptRoots } from '../../agent/transcript/session-files.ts';
import { VERSION } from '../../entry/version.ts';
import type { Options } from '../../sdk/options/options.ts';
import type { SessionModel } from '../acp/acp-session.ts';
import { missingModel, openAgent } from '../chat/conversation.ts';
import { addAgentFlags, agentOptions } from '../flags/agent-flags.ts';
import { cliContext } from '../host/named-servers.ts';
import { onSignals } from '../host/with-host.ts';
import { claimStdout, flushed } from '../output/output.ts';
import { sanitize } from '../terminal/terminal-text.ts';

const HELP = `
An editor starts this command and exchanges JSON-RPC messages with it on stdin and stdout, one per line. In the settings
of Zed:

  "agent_servers": {
    "Toolplane": { "type": "custom", "command": "toolplane", "args": ["acp"], "env": {} }
  }

The editor chooses the working directory and the session, and answers permission requests. The flags apply to every
session.`;

/** Maximum size of an input line in bytes; a prompt with images is long. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** `toolplane acp`: the agent for editors that implement the Agent Client Protocol. */
export function defineAcp(command: Command): void {
  addAgentFlags(command, SESSION_FLAGS)
    .addHelpText('after', HELP)
    .action(async (_values: unknown, command: Command) => {
      await startAcp(agentOptions(command), process.env);
    });
}

/** Flags that select a session; the editor selects it. */
const SESSION_FLAGS: readonly string[] = [
  '--continue',
  '--resume',
  '--fork-session',
  '--no-session-persistence',
];

/** Serves the client on stdin and stdout until it disconnects or a signal arrives. */
async function startAcp(options: Options, env: NodeJS.ProcessEnv): Promise<void> {
  const output = claimStdout();
  const stop = new AbortController();
  const end = () => stop.abort();
  using _signals = onSignals({ SIGTERM: end, SIGINT: end, SIGHUP: end });
  const [{ serveAcp }, { SessionHistory }, { ndJsonStream }] = await Promise.all([
    import('../acp/acp-agent.ts'),
    import('../acp/session-history.ts'),
    import('@agentclientprotocol/sdk/unstable'),
  ]);
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const stream = ndJsonStream(Writable.toWeb(output), input, { maxMessageBytes: MAX_MESSAGE_BYTES });
  const deps = {
    version: VERSION,
    options: { ...options, stderr: (text: string) => void process.stderr.write(sanitize(text)) },
    history: new SessionHistory(transcriptRoots(options, env)),
    open: openAgent,
    models: selectableModels(options, env),
    missingModel: (cwd: string) => missingModel(options, env, cwd),
  };
  await serveAcp(stream, deps, stop.signal);
  await flushed(output);
}

/** Toolplane's agent resumes sessions of the `claude` CLI too; another agent resumes only its own. */
function transcriptRoots(options: Options, env: NodeJS.ProcessEnv): TranscriptRoots {
  const { home, userHome } = cliContext(env);
  const claude = env.CLAUDE_CONFIG_DIR || join(userHome, '.claude');
  return options.pathToClaudeCodeExecutable === undefined ? { toolplane: home, claude } : { claude };
}

/** The current models of Anthropic, if the configured model is one of theirs. Other providers have no list. */
function selectableModels(options: Options, env: NodeJS.ProcessEnv): SessionModel[] {
  if (options.pathToClaudeCodeExecutable !== undefined) return [];
  const { kind } = resolveModelName(firstName(options.model, env.TOOLPLANE_MODEL, env.ANTHROPIC_MODEL), env);
  if (kind !== 'anthropic') return [];
  const names = Object.entries(MODEL_ALIASES).filter(([alias]) => alias !== 'default');
  return names.map(([alias, value]) => ({ value, name: `${alias[0]?.toUpperCase()}${alias.slice(1)}` }));
}
