import { BackgroundProcesses } from '../../agent/builtins/shell/background-processes.ts';
import { VERSION } from '../../entry/version.ts';
import type { SDKMessage, SDKUserMessage } from '../../protocol/agent-message.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { McpServerStatus } from '../../sdk/control-responses.ts';
import type { Options } from '../../sdk/options/options.ts';
import { type Choice, LineEditor } from '../terminal/line-editor.ts';
import { line, type Piece } from '../terminal/render.ts';
import { Screen } from '../terminal/screen.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { replayedMessages, type StoredConversations } from './actions/resume.ts';
import { runShellCommand, shellMessage } from './actions/shell.ts';
import { Attention } from './attention.ts';
import {
  COMMANDS,
  type CommandContext,
  commandEntries,
  cycleMode,
  labelsOfTool,
  parseCommand,
} from './commands.ts';
import { ChatConversation, isOfModelRequest, type OpenAgent, Turn } from './conversation.ts';
import { completeInput } from './live/completions.ts';
import { Flow } from './live/flow.ts';
import { composeFrame } from './live/frame.ts';
import type { PromptHistory } from './live/prompt-history.ts';
import { echoPiece, MESSAGE_PROMPT, succeeded } from './message-text.ts';
import { Questions } from './questions/questions.ts';
import { Unattended, unattendedOptions } from './questions/unattended.ts';
import { UserDialogue } from './questions/user-dialogue.ts';
import { commandNames, show, type ViewEvent } from './show.ts';
import { EMPTY_VIEW, type View } from './view.ts';

/** Exit codes after SIGINT and SIGHUP. */
const INTERRUPTED = 130;
const HUNG_UP = 129;

const SLASH_HINT = 'To enter an answer that starts with /, type // instead.';
const QUEUED =
  '  queued: the message is sent when this turn ends; Ctrl-C interrupts the turn and discards the message';

/** What a chat uses besides the terminal and the agent. */
export type ChatStores = {
  /** Earlier messages of the user; without a history, none are kept. */
  readonly history?: PromptHistory | undefined;
  /** Stored conversations for `/resume`. */
  readonly conversations?: StoredConversations | undefined;
  readonly env?: NodeJS.ProcessEnv;
};

/** An interactive conversation: reads a line, runs a turn, and repeats until the user leaves. */
export class Chat implements AsyncDisposable {
  readonly #terminal: Terminal;
  readonly #open: OpenAgent;
  readonly #stores: ChatStores;
  readonly #screen: Screen;
  readonly #editor: LineEditor;
  readonly #flow: Flow;
  readonly #attention: Attention;
  readonly #user: UserDialogue;
  readonly #unattended = new Unattended(
    (id, reason) => {
      const verdict = { behavior: 'deny', by: 'non-interactive', reason } as const;
      this.#update({ kind: 'decided', id, verdict, at: this.#terminal.now() });
    },
    (text) => this.#print([line([text, 'dim'])]),
  );
  #options: Options = {};
  #view: View = EMPTY_VIEW;
  #servers: readonly McpServerStatus[] = [];
  #conversation: ChatConversation | undefined;
  /** The conversation, once it has a turn. */
  #sessionId: string | undefined;
  readonly #turn: Turn;
  #shell: { readonly stop: AbortController; readonly text: string; readonly since: number } | undefined;
  readonly #processes = new BackgroundProcesses();
  readonly #left = Promise.withResolvers<number>();
  readonly #closed = new AbortController();
  #hasFailedTurn = false;
  #isRunning = false;
  #hasLeft = false;

  constructor(terminal: Terminal, open: OpenAgent, stores: ChatStores = {}) {
    this.#terminal = terminal;
    this.#open = open;
    this.#stores = stores;
    this.#attention = new Attention(terminal);
    this.#screen = new Screen(terminal, () => this.#frame());
    this.#turn = new Turn(terminal, () => this.#screen.refresh());
    this.#flow = new Flow(this.#screen.isLive ? 'markdown' : terminal.isPlain ? 'lines' : 'raw');
    // Ctrl-D is a key of a terminal in raw mode: its input ends when the terminal is closed.
    if (this.#screen.isLive) terminal.input.once('end', () => this.leave(HUNG_UP));
    this.#editor = new LineEditor(terminal, {
      stray: (key) => this.#stray(key),
      changed: () => this.#screen.refresh(),
      prompted: (prompt) => this.#screen.promptLinear(prompt),
      echoed: (prompt, text, mark = '') => this.#echo(prompt, text, mark),
      queued: () => !this.#screen.isLive && this.#print([line([QUEUED, 'dim'])]),
      pressed: (key) => void this.#pressed(key),
      complete: (before) => completeInput(before, commandEntries(this.#view.commands), this.#cwd),
      remembered: (text) => stores.history?.add(text),
    });
    // The handlers are never removed: writing to a closed terminal while leaving fails again.
    for (const stream of [terminal.input, terminal.output]) stream.on('error', () => this.leave(HUNG_UP));
    this.#user = new UserDialogue({
      questions: new Questions({
        editor: this.#editor,
        print: (pieces) => this.#print(pieces),
        command: (text) => this.#takeInQuestion(text),
      }),
      unattended: terminal.isInteractive ? undefined : this.#unattended,
      now: terminal.now,
      annotationsOf: (tool) => labelsOfTool(this.#servers, tool),
      onEvent: (event) => this.#update(event),
      print: (pieces) => this.#print(pieces),
      attend: (text) => this.#attention.notify(text),
    });
  }

  /** Denied calls and requests that needed a person, one line each, with the flag that allows them. */
  get deniedLines(): readonly string[] {
    return this.#unattended.lines;
  }

  /** Resolves with the exit code when the chat is ended from outside. */
  get left(): Promise<number> {
    return this.#left.promise;
  }

  /** Asks one question before the chat starts; `undefined` if there is no answer. */
  async ask(pieces: readonly Piece[], prompt: string): Promise<string | undefined> {
    this.#print(pieces);
    const end = await this.#editor.read(prompt, 'answer');
    return end.kind === 'text' ? end.text : undefined;
  }

  /** The same as Ctrl-C, for signals. */
  interrupt(): void {
    this.#editor.interrupt();
  }

  /** Ends the chat immediately with this exit code. */
  leave(code: number): void {
    this.#left.resolve(code);
  }

  /** Runs the chat; returns the exit code, and rejects if the agent fails. */
  async run(options: Options): Promise<number> {
    this.#options = {
      ...options,
      ...(!this.#terminal.isInteractive && unattendedOptions(options)),
      includePartialMessages: true,
      canUseTool: this.#user.canUseTool,
      onElicitation: this.#user.onElicitation,
      abortController: this.#closed,
      stderr: (text) => this.#print([line([text.trimEnd(), 'dim'])]),
    };
    this.#forget();
    if (this.#stores.history) this.#editor.history = this.#stores.history.read();
    return Promise.race([
      this.#begin()
        .then(() => this.#replayGiven())
        .then(() => this.#greet())
        .then(() => this.#loop()),
      this.#left.promise,
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#shell?.stop.abort();
    this.#turn.end();
    this.#print([...this.#flow.flush(), ...this.#farewell()]);
    this.#hasLeft = true;
    this.#screen[Symbol.dispose]();
    this.#editor[Symbol.dispose]();
    await Promise.all([this.#processes, this.#conversation].map((it) => it?.[Symbol.asyncDispose]()));
    // Aborts an agent that is still starting.
    this.#closed.abort();
  }

  /** How to continue a conversation that was stored. */
  #farewell(): Piece[] {
    const isStored = this.#screen.isLive && this.#options.persistSession !== false;
    if (this.#hasLeft || !isStored || this.#sessionId === undefined) return [];
    return [line([`To continue this conversation: toolplane --resume ${this.#sessionId}`, 'dim'])];
  }

  get #cwd(): string {
    return this.#options.cwd ?? process.cwd();
  }

  #frame() {
    const { columns, rows, hasColors, now } = this.#terminal;
    return composeFrame(
      {
        view: this.#view,
        tail: this.#flow.tail,
        input: this.#editor.view,
        turnSince: this.#turn.since,
        isStopping: this.#turn.isStopping,
        command: this.#shell,
        isStarting: !this.#isRunning,
        now: now(),
      },
      { columns: columns(), rows: rows(), hasColors },
    );
  }

  #greet(): void {
    this.#isRunning = true;
    if (!this.#terminal.isInteractive) return;
    const { model } = this.#options;
    const by = model === undefined ? '' : ` · model ${model}`;
    this.#print([line([`Toolplane ${VERSION}${by} · /help for commands, Ctrl-D to leave`, 'dim'])]);
  }

  async #loop(): Promise<number> {
    let isWarned = false;
    for (;;) {
      this.#print(this.#flow.flush());
      this.#screen.freshLine();
      const end = await this.#editor.read(MESSAGE_PROMPT, 'message');
      if (end.kind === 'ended' || end.kind === 'withdrawn') return this.#outcome();
      if (end.kind === 'interrupted') {
        if (!this.#terminal.isInteractive) return INTERRUPTED;
        if (this.#turn.isInterruptible) {
          this.#interruptTurn();
          continue;
        }
        if (isWarned) return 0;
        isWarned = true;
        this.#print([line(['To leave, press Ctrl-C again or Ctrl-D, or type /quit.', 'dim'])]);
        continue;
      }
      isWarned = false;
      if (end.text.trim() !== '' && (await this.#take(end.text)) === 'leave') return this.#outcome();
    }
  }

  /** A failed turn sets the exit code only for scripts. */
  #outcome(): number {
    return this.#hasFailedTurn && !this.#terminal.isInteractive ? 1 : 0;
  }

  async #take(text: string): Promise<'leave' | undefined> {
    const [, shellCommand] = this.#terminal.isInteractive ? (/^!\s*(\S[\s\S]*)$/.exec(text) ?? []) : [];
    if (shellCommand !== undefined) {
      await this.#runShell(shellCommand);
      return undefined;
    }
    const read = parseCommand(text, this.#view.commands);
    if (read.kind === 'unknown') this.#print(read.pieces);
    if (read.kind === 'prompt') await this.#answer(text);
    if (read.kind !== 'own') return undefined;
    try {
      const outcome = await read.command.run(this.#context(), read.argument);
      if (outcome === 'leave') return outcome;
      this.#print(outcome);
    } catch (cause) {
      this.#print([line([messageOf(cause), 'bad'])]);
    }
    return undefined;
  }

  /** A command typed into a question; the question is asked again after it. */
  async #takeInQuestion(text: string): Promise<void> {
    const read = parseCommand(text, this.#view.commands);
    if (read.kind === 'own' && read.command === COMMANDS.quit) {
      this.leave(this.#outcome());
    } else if (read.kind === 'prompt' || (read.kind === 'own' && read.command.isBetweenTurns)) {
      this.#print([line([`Answer the question or cancel it with Ctrl-C before using ${text}.`, 'warn'])]);
    } else {
      await this.#take(text);
      if (read.kind === 'unknown') this.#print([line([SLASH_HINT, 'dim'])]);
    }
  }

  async #answer(prompt: string): Promise<void> {
    const since = this.#terminal.now();
    this.#update({ kind: 'prompted' });
    this.#turn.begin();
    try {
      if (!succeeded(await this.#openConversation().turn(prompt))) this.#hasFailedTurn = true;
    } finally {
      this.#turn.end();
    }
    this.#attention.turnEnded(since);
  }

  /** `!command`: runs it in a shell; the output is added to the conversation, and no turn is started. */
  async #runShell(command: string): Promise<void> {
    const stop = new AbortController();
    this.#shell = { stop, text: command, since: this.#terminal.now() };
    using _ticking = this.#terminal.every(1000, () => this.#screen.refresh());
    try {
      const { env = {} } = this.#stores;
      const context = { cwd: this.#cwd, env, signal: stop.signal, processes: this.#processes };
      const result = await runShellCommand(command, context);
      this.#print(result.pieces);
      await this.#openConversation().client.send(shellMessage(command, result) as SDKUserMessage);
    } catch (cause) {
      this.#print([line([messageOf(cause), 'bad'])]);
    } finally {
      this.#shell = undefined;
    }
  }

  /** Handles Ctrl-C and the end of the input while no read is pending, and Esc outside questions. */
  #stray(key: 'interrupted' | 'escaped' | 'ended'): void {
    // Piped input ends long before its lines are answered.
    if (key === 'ended' && !this.#terminal.isInteractive) return;
    if (key !== 'ended' && this.#shell) this.#shell.stop.abort();
    else if (key !== 'ended' && this.#turn.isInterruptible) this.#interruptTurn();
    else if (key !== 'escaped') this.leave(key === 'ended' ? 0 : INTERRUPTED);
  }

  #interruptTurn(): void {
    this.#turn.isStopping = true;
    if (this.#screen.isLive) {
      // The live area shows that the turn is being interrupted.
      const unsent = this.#editor.recallQueued();
      if (unsent > 0)
        this.#print([line([`Queued messages not sent: ${unsent} (in the input line).`, 'dim'])]);
      this.#screen.refresh();
    } else {
      const unsent = this.#terminal.isInteractive ? this.#editor.dropQueued().length : 0;
      const note = unsent === 0 ? '' : ` Queued messages not sent: ${unsent} (discarded).`;
      this.#print([line([`Interrupting.${note} Press Ctrl-C again to exit immediately.`, 'dim'])]);
    }
    this.#openConversation()
      .client.interrupt()
      // The agent may end before it answers.
      .catch((cause) => !this.#hasLeft && this.#print([line([messageOf(cause), 'bad'])]));
  }

  async #pressed(key: 'cycle-mode' | 'expand' | 'redraw'): Promise<void> {
    if (key === 'redraw') this.#screen.redraw();
    else if (key === 'expand')
      this.#print((await COMMANDS.expand.run(this.#context(), '')) as readonly Piece[]);
    else this.#print(await cycleMode(this.#context(), this.#options));
  }

  async #begin(): Promise<void> {
    const conversation = await ChatConversation.open(this.#open, this.#options, (it) => this.#receive(it));
    this.#conversation = conversation;
    const { commands, ...state } = await conversation.client.initializationResult();
    this.#view = { ...this.#view, commands: commandNames(commands) };
    const { current_permission_mode: mode } = state as { current_permission_mode?: unknown };
    if (typeof mode === 'string') this.#update({ kind: 'chosen', mode });
    if (this.#screen.isLive) void this.#learnModel(conversation);
  }

  /** The agent names its model with the first turn; before that, its report of the context window does. */
  async #learnModel(conversation: ChatConversation): Promise<void> {
    const { model: before } = this.#view.init;
    const usage = await conversation.client.getContextUsage({ detail: 'summary' }).catch(() => undefined);
    const isCurrent = this.#conversation === conversation && this.#view.init.model === before;
    if (isCurrent && typeof usage?.model === 'string' && usage.model !== '')
      this.#update({ kind: 'chosen', model: usage.model });
  }

  #forget(): void {
    const { model, permissionMode: mode, resume } = this.#options;
    this.#sessionId = resume;
    this.#view = { ...EMPTY_VIEW, init: { tools: [], ...(model && { model }), ...(mode && { mode }) } };
  }

  async #restart(resume?: string): Promise<void> {
    await this.#conversation?.[Symbol.asyncDispose]();
    this.#turn.end();
    const { continue: _continue, resume: _resume, ...options } = this.#options;
    this.#options = { ...options, ...(resume !== undefined && { resume }) };
    this.#forget();
    try {
      await this.#begin();
    } catch (cause) {
      if (resume === undefined) throw cause;
      // The chat continues with a new conversation if this one cannot be resumed.
      await this.#restart();
      throw cause;
    }
    if (resume !== undefined) await this.#replay(resume);
  }

  /** Shows the conversation that `--continue` or `--resume` continues. */
  async #replayGiven(): Promise<void> {
    const { resume, continue: isContinued } = this.#options;
    if (!this.#terminal.isInteractive || (resume === undefined && !isContinued)) return;
    const id = resume ?? (await this.#stores.conversations?.list(this.#cwd))?.[0]?.id;
    if (id !== undefined) await this.#replay(id);
  }

  async #replay(sessionId: string): Promise<void> {
    const stored = (await this.#stores.conversations?.read(this.#cwd, sessionId)) ?? [];
    const { messages, hidden } = replayedMessages(stored);
    if (hidden > 0) this.#print([line([`… ${hidden} earlier messages`, 'dim'])]);
    for (const message of messages) {
      if (message.kind === 'prompt') this.#echo(MESSAGE_PROMPT, message.text, '');
      else if (message.kind === 'interrupted') this.#print([line(['✗ The turn was interrupted', 'bad'])]);
      else this.#update({ kind: 'received', message: message.message, at: Number.NaN });
    }
    this.#print(this.#flow.flush());
    const { usd: _usd, ...rest } = this.#view.totals;
    this.#view = { ...this.#view, totals: { ...EMPTY_VIEW.totals, ...(rest.prompts > 0 && rest) } };
  }

  #context(): CommandContext {
    return {
      client: this.#openConversation().client,
      view: this.#view,
      env: this.#stores.env ?? {},
      cwd: this.#cwd,
      conversations: this.#stores.conversations,
      sessionId: this.#sessionId,
      restart: (resume) => this.#restart(resume),
      ...(this.#options.settingSources && { settingSources: this.#options.settingSources }),
      keep: (choice, shownModel = choice.model) => {
        this.#keep(choice);
        const { permissionMode: mode } = choice;
        this.#update({
          kind: 'chosen',
          ...(shownModel !== undefined && { model: shownModel }),
          ...(mode !== undefined && { mode }),
        });
      },
      choose: (prompt, choices) => this.#choose(prompt, choices),
      print: (pieces) => this.#print(pieces),
    };
  }

  #keep(choice: { model?: string; permissionMode?: PermissionMode }): void {
    this.#options = { ...this.#options, ...choice };
  }

  async #choose(prompt: string, choices: readonly Choice[]): Promise<number | undefined> {
    if (!this.#terminal.isInteractive || choices.length === 0) return undefined;
    if (!this.#screen.isLive) {
      const rows = choices.map(({ label, detail = '' }, at) => line(`  ${at + 1} ${label}  ${detail}`));
      this.#print([line(prompt), ...rows]);
    }
    const end = await this.#editor.choose(this.#screen.isLive ? prompt : 'number: ', choices);
    return end.kind === 'text' ? Number(end.text) : undefined;
  }

  #openConversation(): ChatConversation {
    if (!this.#conversation) throw new Error('the chat has not started');
    return this.#conversation;
  }

  #receive(message: SDKMessage): void {
    this.#update({ kind: 'received', message, at: this.#terminal.now() });
    // An agent starts turns by itself, such as for the report of a background agent.
    const isAgentTurn = this.#conversation?.isInTurn === false;
    if (isAgentTurn && message.type === 'result') this.#turn.end();
    if (isAgentTurn && this.#turn.since === undefined && isOfModelRequest(message)) this.#turn.begin();
    if (message.type !== 'system' || message.subtype !== 'init') return;
    this.#sessionId = message.session_id;
    this.#refreshServers();
  }

  /** Fetches the status of servers in advance, for permission questions, and reports failed servers. */
  #refreshServers(): void {
    this.#conversation?.client.mcpServerStatus().then(
      (servers) => {
        this.#servers = servers;
        this.#update({ kind: 'learned', servers });
      },
      // If the request fails, the servers of the init message are reported, without details.
      () => this.#update({ kind: 'learned', servers: this.#view.servers }),
    );
  }

  #update(event: ViewEvent): void {
    const { view, pieces } = show(this.#view, event);
    this.#view = view;
    this.#print(pieces);
    this.#screen.refresh();
  }

  /** Prints what was typed at the place in the output where it was sent. */
  #echo(prompt: string, text: string, mark: string): void {
    if (!this.#screen.isLive && mark !== '') {
      // The terminal itself has echoed the key.
      this.#print([line('')]);
      return;
    }
    const isMessage = prompt === MESSAGE_PROMPT;
    if (isMessage && this.#screen.isLive && mark === '') this.#print([line('')]);
    this.#print([echoPiece(prompt, text, mark)]);
  }

  #print(pieces: readonly Piece[]): void {
    const shown = this.#flow.take(pieces);
    if (shown.length > 0) this.#screen.print(shown);
  }
}
