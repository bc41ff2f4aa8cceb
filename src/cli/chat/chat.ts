import { VERSION } from '../../entry/version.ts';
import type { SDKMessage } from '../../protocol/agent-message.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { McpServerStatus } from '../../sdk/control-responses.ts';
import type { Options } from '../../sdk/options/options.ts';
import { LineEditor } from '../terminal/line-editor.ts';
import { line, type Piece } from '../terminal/render.ts';
import { Screen } from '../terminal/screen.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { COMMANDS, type CommandContext, parseCommand } from './commands.ts';
import { ChatConversation, type OpenAgent } from './conversation.ts';
import { elapsed, progressText, succeeded } from './message-text.ts';
import { Questions } from './questions.ts';
import { commandNames, show, type ViewEvent } from './show.ts';
import { labelsOfTool } from './tool-list.ts';
import { Unattended } from './unattended.ts';
import { UserDialogue } from './user-dialogue.ts';
import { type Call, EMPTY_VIEW, runningCalls, type View } from './view.ts';

/** Exit codes after SIGINT and SIGHUP. */
const INTERRUPTED = 130;
const HUNG_UP = 129;

const SLASH_HINT = 'To enter an answer that starts with /, type // instead.';
const QUEUED =
  '  queued: the message is sent when this turn ends; Ctrl-C interrupts the turn and discards the message';

/** An interactive conversation: reads a line, runs a turn, and repeats until the user leaves. */
export class Chat implements AsyncDisposable {
  readonly #terminal: Terminal;
  readonly #open: OpenAgent;
  readonly #screen: Screen;
  readonly #editor: LineEditor;
  readonly #flow = new FlowBuffer();
  readonly #user: UserDialogue;
  readonly #unattended = new Unattended((id, reason) => {
    const verdict = { behavior: 'deny', by: 'non-interactive', reason } as const;
    this.#update({ kind: 'decided', id, verdict, at: this.#terminal.now() });
  });
  #options: Options = {};
  #view: View = EMPTY_VIEW;
  #servers: readonly McpServerStatus[] = [];
  #conversation: ChatConversation | undefined;
  #turn: 'none' | 'running' | 'stopping' = 'none';
  readonly #left = Promise.withResolvers<number>();
  readonly #closed = new AbortController();
  #hasFailedTurn = false;

  constructor(terminal: Terminal, open: OpenAgent) {
    this.#terminal = terminal;
    this.#open = open;
    this.#screen = new Screen(terminal);
    this.#editor = new LineEditor(terminal, {
      stray: (key) => this.#stray(key),
      typing: () => this.#screen.freshLine(),
      // Printed before the held-back text, so that the text is not interrupted.
      queued: () => this.#screen.print([line([QUEUED, 'dim'])]),
      idle: () => this.#print(this.#flow.flush()),
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
      includePartialMessages: true,
      canUseTool: this.#user.canUseTool,
      onElicitation: this.#user.onElicitation,
      abortController: this.#closed,
      stderr: (text) => this.#print([line([text.trimEnd(), 'dim'])]),
    };
    return Promise.race([
      this.#begin()
        .then(() => this.#greet())
        .then(() => this.#loop()),
      this.#left.promise,
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#screen.freshLine();
    this.#editor[Symbol.dispose]();
    await this.#conversation?.[Symbol.asyncDispose]();
    // Aborts an agent that is still starting.
    this.#closed.abort();
  }

  #greet(): void {
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
      const end = await this.#editor.read('› ', 'message');
      if (end.kind === 'ended' || end.kind === 'withdrawn') return this.#outcome();
      if (end.kind === 'interrupted') {
        if (!this.#terminal.isInteractive) return INTERRUPTED;
        if (isWarned) return 0;
        isWarned = true;
        this.#print([line(['Press Ctrl-C again, Ctrl-D or type /quit to leave.', 'dim'])]);
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
    } else if (read.kind === 'prompt' || (read.kind === 'own' && read.command === COMMANDS.clear)) {
      this.#print([line([`Answer the question or cancel it with Ctrl-C before using ${text}.`, 'warn'])]);
    } else {
      await this.#take(text);
      if (read.kind === 'unknown') this.#print([line([SLASH_HINT, 'dim'])]);
    }
  }

  async #answer(text: string): Promise<void> {
    const since = this.#terminal.now();
    using _ticking = this.#terminal.every(1000, () => {
      if (this.#editor.isShowing) return;
      this.#screen.status(statusLine(this.#view, since, this.#terminal.now()));
    });
    this.#update({ kind: 'prompted' });
    this.#turn = 'running';
    try {
      if (!succeeded(await this.#openConversation().turn(text))) this.#hasFailedTurn = true;
    } finally {
      this.#turn = 'none';
    }
  }

  /** Handles Ctrl-C, or the end of the input, while no read is pending. */
  #stray(key: 'interrupted' | 'ended'): void {
    // Piped input ends long before its lines are answered.
    if (key === 'ended' && !this.#terminal.isInteractive) return;
    if (key === 'ended' || this.#turn !== 'running') {
      this.leave(key === 'ended' ? 0 : INTERRUPTED);
      return;
    }
    this.#turn = 'stopping';
    const dropped = this.#terminal.isInteractive ? this.#editor.dropQueued().length : 0;
    const unsent = dropped === 0 ? '' : ` Queued messages not sent: ${dropped} (press Up to recall).`;
    this.#print([line([`Interrupting.${unsent} Press Ctrl-C again to exit immediately.`, 'dim'])]);
    this.#openConversation()
      .client.interrupt()
      .catch((cause) => this.#print([line([messageOf(cause), 'bad'])]));
  }

  async #begin(): Promise<void> {
    this.#conversation = await ChatConversation.open(this.#open, this.#options, (it) => this.#receive(it));
    const commands = commandNames(await this.#conversation.client.supportedCommands());
    this.#view = { ...this.#view, commands };
  }

  async #restart(): Promise<void> {
    await this.#conversation?.[Symbol.asyncDispose]();
    this.#view = EMPTY_VIEW;
    const { continue: _continue, resume: _resume, ...options } = this.#options;
    this.#options = options;
    await this.#begin();
  }

  #context(): CommandContext {
    return {
      client: this.#openConversation().client,
      view: this.#view,
      restart: () => this.#restart(),
      keep: (choice) => {
        this.#options = { ...this.#options, ...choice };
      },
    };
  }

  #openConversation(): ChatConversation {
    if (!this.#conversation) throw new Error('the chat has not started');
    return this.#conversation;
  }

  #receive(message: SDKMessage): void {
    this.#update({ kind: 'received', message, at: this.#terminal.now() });
    if (message.type === 'system' && message.subtype === 'init') this.#refreshServers();
  }

  /** Fetches the status of servers in advance, for permission questions, and reports failed servers. */
  #refreshServers(): void {
    this.#conversation?.client.mcpServerStatus().then(
      (servers) => {
        this.#servers = servers;
        this.#update({ kind: 'learned', servers });
      },
      // Without details, the servers of the init message are reported.
      () => this.#update({ kind: 'learned', servers: this.#view.servers }),
    );
  }

  #update(event: ViewEvent): void {
    const { view, pieces } = show(this.#view, event);
    this.#view = view;
    this.#print(pieces);
  }

  #print(pieces: readonly Piece[]): void {
    const shown = this.#flow.take(pieces, this.#turn !== 'none' && this.#editor.isShowing);
    if (shown.length === 0) return;
    this.#editor.above(() => {
      this.#screen.print(shown);
      if (this.#editor.isShowing) this.#screen.freshLine();
    });
  }
}

/** Holds back the last, incomplete line of streamed text while the user types below it. */
export class FlowBuffer {
  #held = '';

  /** The pieces to print now. While `isTyping`, streamed text is printed in whole lines. */
  take(pieces: readonly Piece[], isTyping: boolean): readonly Piece[] {
    if (!isTyping && this.#held === '') return pieces;
    return pieces.flatMap((piece) => {
      if (piece.kind !== 'flow') return [...this.flush(), piece];
      const text = this.#held + piece.text;
      const end = isTyping ? text.lastIndexOf('\n') + 1 : text.length;
      this.#held = text.slice(end);
      return end > 0 ? [{ kind: 'flow', text: text.slice(0, end) } as const] : [];
    });
  }

  /** The held-back text. */
  flush(): readonly Piece[] {
    const text = this.#held;
    this.#held = '';
    return text === '' ? [] : [{ kind: 'flow', text }];
  }
}

/** The status of a turn that started at `since`: the oldest running call and its progress, or the model. */
export function statusLine(view: View, since: number, now: number): string {
  const [oldest, ...others] = runningCalls(view.calls);
  const what = oldest ? callText(oldest, now) : `thinking ${elapsed(now - since)}`;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  return `${what}${more} · Ctrl-C interrupts`;
}

function callText({ name, since, progress }: Call, now: number): string {
  return `${name} ${elapsed(now - since)}${progress ? ` · ${progressText(progress)}` : ''}`;
}
