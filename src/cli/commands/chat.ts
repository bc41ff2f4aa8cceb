import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { readConfiguration } from '../../config/configuration.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { Options } from '../../sdk/options/options.ts';
import { storedConversations } from '../chat/actions/resume.ts';
import { Chat, type ChatStores } from '../chat/chat.ts';
import { missingModel, openAgent } from '../chat/conversation.ts';
import { historyPath, PromptHistory } from '../chat/live/prompt-history.ts';
import { addAgentFlags, agentOptions } from '../flags/agent-flags.ts';
import { cliContext } from '../host/named-servers.ts';
import { homeDirectory, onSignals } from '../host/with-host.ts';
import { startApprove } from '../mcp/approve/approve.ts';
import { allPending } from '../mcp/approve/pending.ts';
import { exitWith, reportError } from '../output/failure.ts';
import { line } from '../terminal/render.ts';
import { processTerminal, type Terminal } from '../terminal/terminal.ts';

/** `toolplane chat`, and `toolplane` alone: a conversation in the terminal. */
export function defineChat(command: Command): void {
  addAgentFlags(command)
    .option('--plain', 'linear output without colors or redrawing, for screen readers and logs')
    .option('--no-bell', 'no bell and no notification when a question is asked or a long turn ends')
    .action(async ({ plain, bell }: { plain?: true; bell: boolean }, command: Command) => {
      exitWith(await startChat(agentOptions(command), process.env, { plain: plain === true, bell }));
    });
}

/** Runs a chat in the terminal of this process; returns its exit code. */
export async function startChat(
  given: Options,
  env: NodeJS.ProcessEnv,
  look: { readonly plain: boolean; readonly bell: boolean },
): Promise<number> {
  const left = await approveFirst(given, env);
  if (left !== undefined) return left;
  const missing = await missingModel(given, env);
  const terminal = processTerminal(env, look);
  if (missing !== undefined && !terminal.isInteractive) return reportError(missing);
  // stderr is closed together with the terminal.
  process.stderr.on('error', () => {});
  const chat = new Chat(terminal, openAgent, chatStores(given, terminal.isInteractive, env));
  using _signals = onSignals({
    SIGINT: () => chat.interrupt(),
    // The terminal is restored before exit.
    SIGTERM: () => chat.leave(143),
    SIGHUP: () => chat.leave(129),
  });
  try {
    const begun = missing === undefined ? Promise.resolve(given) : offerRehearsal(chat, given, missing);
    const running = begun.then((options) => (options ? chat.run(chatOptions(options, terminal)) : 1));
    return await Promise.race([running, chat.left]);
  } catch (cause) {
    return reportError(messageOf(cause));
  } finally {
    for (const text of chat.deniedLines) reportError(text);
    await chat[Symbol.asyncDispose]();
  }
}

/** What is kept between chats: nothing of a conversation that is not stored, and nothing of scripts. */
function chatStores(options: Options, isInteractive: boolean, env: NodeJS.ProcessEnv): ChatStores {
  const home = resolve(homeDirectory(env));
  const { CLAUDE_CONFIG_DIR, HOME } = env;
  const claude = CLAUDE_CONFIG_DIR ? resolve(CLAUDE_CONFIG_DIR) : join(HOME || homedir(), '.claude');
  const isKept = isInteractive && options.persistSession !== false;
  const project = resolve(options.cwd ?? process.cwd());
  return {
    env,
    history: isKept ? new PromptHistory(historyPath(home), project) : undefined,
    conversations: storedConversations({ toolplane: home, claude }),
  };
}

/** At a terminal, the built-in agent runs long calls in the background, so that the conversation can continue. */
function chatOptions(options: Options, { isInteractive }: Pick<Terminal, 'isInteractive'>): Options {
  if (!isInteractive || options.pathToClaudeCodeExecutable !== undefined) return options;
  return { ...options, extraArgs: { ...options.extraArgs, 'background-calls': null } };
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
  // The chat ends only if a signal ended the dialogue, not if the user skipped the decision.
  return code > 128 ? code : undefined;
}
