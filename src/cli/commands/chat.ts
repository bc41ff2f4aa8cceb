import type { Command } from 'commander';
import { readConfiguration } from '../../config/configuration.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Options } from '../../sdk/options/options.ts';
import { Chat } from '../chat/chat.ts';
import { missingModel, openAgent } from '../chat/conversation.ts';
import { addAgentFlags, agentOptions } from '../flags/agent-flags.ts';
import { cliContext } from '../host/config-context.ts';
import { onSignals } from '../host/signals.ts';
import { startApprove } from '../mcp/approve/approve.ts';
import { allPending } from '../mcp/approve/pending.ts';
import { exitWith, reportError } from '../output/failure.ts';
import { line } from '../terminal/render.ts';
import { processTerminal } from '../terminal/terminal.ts';

/** `toolplane chat`, and `toolplane` alone: a conversation in the terminal. */
export function defineChat(command: Command): void {
  addAgentFlags(command).action(async (_values: unknown, command: Command) => {
    exitWith(await startChat(agentOptions(command), process.env));
  });
}

/** Runs a chat in the terminal of this process; returns its exit code. */
export async function startChat(given: Options, env: NodeJS.ProcessEnv): Promise<number> {
  const left = await approveFirst(given, env);
  if (left !== undefined) return left;
  const missing = missingModel(given, env);
  const terminal = processTerminal(env);
  if (missing !== undefined && !terminal.isInteractive) return reportError(missing);
  // stderr is closed together with the terminal.
  process.stderr.on('error', () => {});
  const chat = new Chat(terminal, openAgent);
  using _signals = onSignals({
    SIGINT: () => chat.interrupt(),
    // The terminal is restored before exit.
    SIGTERM: () => chat.leave(143),
    SIGHUP: () => chat.leave(129),
  });
  try {
    const begun = missing === undefined ? Promise.resolve(given) : offerRehearsal(chat, given, missing);
    return await Promise.race([begun.then((options) => (options ? chat.run(options) : 1)), chat.left]);
  } catch (cause) {
    return reportError(messageOf(cause));
  } finally {
    for (const text of chat.deniedLines) reportError(text);
    await chat[Symbol.asyncDispose]();
  }
}

/** The rehearsal model is not an LLM, so the user is asked before it is used. */
async function offerRehearsal(chat: Chat, given: Options, missing: string): Promise<Options | undefined> {
  const question = [
    line([missing, 'warn']),
    line('The rehearsal model is an offline stand-in that understands a few fixed phrases.'),
  ];
  const answer = await chat.ask(question, 'use the rehearsal model? (y or n) ');
  return /^\s*y(es)?\s*$/i.test(answer ?? '') ? { ...given, model: 'rehearsal' } : undefined;
}

/** Asks for approval of pending servers and settings of the project; returns an exit code if the user interrupts. */
export async function approveFirst(options: Options, env: NodeJS.ProcessEnv): Promise<number | undefined> {
  // Another agent reads its own files.
  if (options.pathToClaudeCodeExecutable !== undefined || !processTerminal(env).isInteractive)
    return undefined;
  if (options.strictMcpConfig) return undefined;
  const { settingSources: scopes } = options;
  const configuration = await readConfiguration(cliContext(env), scopes ? { scopes } : {});
  if (allPending(configuration).length === 0) return undefined;
  const code = await startApprove(
    { names: [], choice: 'approved', all: false, settings: false, trust: false },
    'text',
    env,
  );
  // Skipping the decision does not end the chat.
  return code > 128 ? code : undefined;
}
