import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../base/async/timers.ts';
import type { ChannelSetting } from '../config/settings/channel-settings.ts';
import { CHANNEL } from '../protocol/mcp.ts';
import {
  type Admission,
  judgeMessage,
  RateLimit,
  REFUSALS,
  type Refusal,
  type RefusalReason,
  senderFault,
} from './admission.ts';
import { parseMeta, parsePushed } from './channel-message.ts';
import { type ChannelConnection, ChannelServers, LOCAL_SOURCE, type Moment } from './channel-servers.ts';
import type { Owner } from './conversation-registry.ts';
import { FairBatch, MAX_BATCH } from './fair-batch.ts';
import { GuardedInbox, LOCKED_RETRY_MS } from './guarded-inbox.ts';
import type { Inbox, NewMessage } from './inbox.ts';
import { NoteLimit } from './note-limit.ts';
import { PermissionRelay } from './permission-relay.ts';
import { messageKey, type StoredMessage } from './stored-message.ts';

export type ChannelsDeps = {
  readonly owner: Owner;
  /** The enabled channels by the name of their server. */
  readonly settings: Readonly<Record<string, ChannelSetting>>;
  /** Keys of messages that the conversation contains from the start; see `messageKey`. */
  readonly known?: readonly string[];
  /** Those messages in the conversation that the model has not answered. */
  unanswered?(): readonly string[];
  /** The conversations that this one continues, as after a fork. */
  readonly earlier?: readonly string[];
  readonly clock: Clock;
  openInbox(): Promise<Inbox>;
  /** Undefined unless the server is connected. */
  connection(server: string): ChannelConnection | undefined;
  /** Settles when the server has connected or failed; undefined unless it is connecting. */
  connecting?(server: string): Promise<unknown> | undefined;
  /** Called when messages wait for delivery. */
  onPending(): void;
  /** Receives what the user should know. */
  note(text: string): void;
};

/** Messages that were taken for delivery, of one source or several, oldest first. */
export type ChannelBatch = readonly StoredMessage[];

/** How many messages are held in memory until the inbox or the connection is ready. */
const MAX_HELD = 1_000;
/** How often other processes' changes of the inbox are looked for. */
const POLL_MS = 250;
const HEARTBEAT_MS = 15_000;
const EXPIRE_MS = 60 * 60 * 1000;
/** How long the end waits for another process that writes: long enough that this process is reported. */
const MAX_CLOSE_MS = 6_000;

/**
 * Receives the messages that servers push, stores them in the inbox before anything else happens, and hands them out for
 * delivery. Nothing is dropped without a note: a message that cannot be stored is refused, and the server is notified.
 */
export class Channels implements AsyncDisposable {
  readonly relay: PermissionRelay;
  readonly #deps: ChannelsDeps;
  readonly #inbox: GuardedInbox;
  readonly #servers: ChannelServers;
  readonly #rates = new Map<string, RateLimit>();
  /** Messages on their way to the inbox, in order. */
  #incoming: { readonly server: string; readonly message: NewMessage }[] = [];
  /** Messages of servers whose capabilities are not known yet. */
  readonly #early = new Map<string, Admission[]>();
  readonly #batches = new FairBatch();
  readonly #noteLimit = new NoteLimit();
  readonly #noted = new Set<string>();
  readonly #refusals = new Map<string, { count: number; reason: RefusalReason }>();
  /** Messages that are being delivered. */
  readonly #taken = new Set<number>();
  /** Messages that the resumed conversation contains, but that the model may not have answered. */
  #known: number[] = [];
  /** Messages that are part of the conversation, but not marked yet because the inbox failed. */
  #unmarked: number[] = [];
  /** The conversations that `/clear` ended, as long as the current one does not have their messages. */
  #left: string[] = [];
  #opening: Promise<void>;
  #isOpening = true;
  #owner: Owner;
  #mayBePending = false;
  #flush: NodeJS.Immediate | undefined;
  #stops: (() => void)[] = [];
  #version = 0;
  #isClosed = false;

  constructor(deps: ChannelsDeps) {
    this.#deps = deps;
    this.#inbox = new GuardedInbox(deps.note, () => this.#retry());
    this.#owner = deps.owner;
    const { [LOCAL_SOURCE]: local, ...settings } = deps.settings;
    this.#servers = new ChannelServers(settings, (server) => deps.connection(server));
    if (local)
      this.#noteOnce(
        LOCAL_SOURCE,
        `MCP server "${LOCAL_SOURCE}" cannot be a channel, because this name is the source of messages from toolplane channels send; rename the server`,
      );
    this.relay = new PermissionRelay({ ...deps, settings });
    this.#opening = this.#open();
    this.#every(POLL_MS, () => this.#poll());
    this.#every(HEARTBEAT_MS, () => this.#beat());
    this.#every(EXPIRE_MS, () => this.#inbox.write((inbox) => inbox.expire()));
  }

  /** Names of the enabled channels. */
  get names(): readonly string[] {
    return this.#servers.names;
  }

  /** Takes a notification of a server; other notifications than those of channels are ignored. */
  receive(server: string, method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === CHANNEL.permission) this.#receiveAnswer(server, params);
    if (method === CHANNEL.message) this.#receiveMessage(server, params);
  }

  /** Called when a server is connected: its early messages can be judged, and it can answer requests. */
  connected(server: string): void {
    this.relay.connected(server);
    const early = this.#early.get(server);
    this.#early.delete(server);
    for (const admission of early ?? []) this.#admit(server, admission);
    const servers = this.#servers;
    if (servers.setting(server) && servers.isConnected(server) && !servers.isChannel(server)) {
      this.#noteOnce(
        server,
        `channel "${server}": the server does not declare the capability "${CHANNEL.capability}", so it cannot push messages; check that it is a channel server`,
      );
    }
  }

  /** Whether a message waits that may be delivered at that moment. */
  hasPending(moment: Moment): boolean {
    return this.#waiting(moment, 1).some(({ length }) => length > 0);
  }

  /**
   * Takes the next messages for delivery, of all sources except the given ones; empty if there are none. Each must be
   * passed to `delivered` or `giveBack`.
   */
  take(moment: Moment, except: ReadonlySet<string> = new Set()): ChannelBatch {
    const picked = this.#batches.pick(this.#waiting(moment, MAX_BATCH, except));
    const batch = this.#batches.fit(picked, this.#inbox.read((inbox) => inbox.read(picked)) ?? []);
    for (const { seq } of batch) this.#taken.add(seq);
    return batch;
  }

  /**
   * Takes the messages that the resumed conversation contains, but that the model has not answered, because the process
   * ended before. Must not be called while a request to the model runs.
   */
  takeKnown(): ChannelBatch {
    if (this.#known.length === 0 || !this.#isReceiver()) return [];
    const found = this.#inbox.read((inbox) => inbox.read(this.#known));
    if (!found) return [];
    this.#known = [];
    const unanswered = new Set(this.#deps.unanswered?.());
    const pending = found.filter(({ state }) => state === 'pending');
    const { due = [], answered = [] } = Object.groupBy(pending, (it) =>
      unanswered.has(messageKey(it)) ? 'due' : 'answered',
    );
    for (const { seq } of due) this.#taken.add(seq);
    this.#unmarked.push(...answered.map(({ seq }) => seq));
    this.#mark();
    return due;
  }

  /** The messages that may be delivered at that moment, by source. */
  #waiting(moment: Moment, limit: number, except: ReadonlySet<string> = new Set()) {
    if (this.#incoming.length > 0) this.#store('quietly');
    if (!this.#hasMoved() || !this.#mayBePending || this.#isClosed || !this.#isReceiver()) return [];
    const skipped = new Set([...this.#taken, ...this.#known, ...this.#unmarked]);
    const sources = this.#servers.sources(moment).filter((source) => !except.has(source));
    const found = this.#inbox.read((inbox) =>
      sources.map((source) =>
        inbox
          .waiting(this.#owner, source, limit + skipped.size)
          .filter(({ seq }) => !skipped.has(seq))
          .slice(0, limit),
      ),
    );
    const isAll = moment === 'idle' && except.size === 0;
    if (isAll && found?.every(({ length }) => length === 0)) this.#mayBePending = false;
    return found ?? [];
  }

  /** Marks messages as delivered, once the conversation contains them. */
  delivered(batch: ChannelBatch): void {
    for (const { seq } of batch) this.#taken.delete(seq);
    this.#unmarked.push(...batch.map(({ seq }) => seq));
    this.#batches.delivered();
    this.#mark();
  }

  /** Returns messages that did not become part of the conversation. */
  giveBack(batch: ChannelBatch): void {
    for (const { seq } of batch) this.#taken.delete(seq);
    if (batch.length > 0) this.#mayBePending = true;
  }

  /** Continues for another conversation, such as after `/clear`. */
  moveTo(conversation: string): void {
    this.#left.push(this.#owner.conversation);
    this.#known = [];
    this.#owner = { ...this.#owner, conversation };
    this.#hasMoved();
  }

  /** Gives the current conversation the messages of those before; nothing is stored or taken before that, so that the order is kept. */
  #hasMoved(): boolean {
    if (this.#left.length === 0) return true;
    if (!this.#inbox.isDue) return false;
    const isDone = this.#inbox.write((inbox) => {
      for (const from of this.#left) inbox.transfer(from, this.#owner);
      return true;
    });
    if (!isDone) return false;
    this.#left = [];
    this.#mayBePending = true;
    return true;
  }

  /** Stores what has arrived, and leaves pending messages to the next conversation of the project. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    await this.#opening;
    this.#reportRefusals();
    const deadline = performance.now() + MAX_CLOSE_MS;
    for (;;) {
      this.#store();
      this.#mark();
      if (!this.#isHolding || !this.#inbox.isLocked || performance.now() > deadline) break;
      await delay(LOCKED_RETRY_MS + 1);
    }
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    clearImmediate(this.#flush);
    this.#inbox.write((inbox) => inbox.leave(this.#owner.conversation));
    this.#inbox[Symbol.dispose]();
  }

  async #open(): Promise<void> {
    const isOpen = await this.#inbox.open(() => this.#deps.openInbox());
    this.#isOpening = false;
    if (!isOpen) return;
    const contained = this.#inbox.read((inbox) => this.#contained(inbox));
    if (!contained || this.#isClosed) {
      this.#inbox[Symbol.dispose]();
      return;
    }
    this.#enter();
    this.#inbox.write((inbox) => inbox.expire());
    this.#known.push(...contained.unanswered);
    this.#unmarked.push(...contained.answered);
    this.#mark();
    this.#adopt();
    this.#store();
  }

  /**
   * The messages that the conversation has, although they are pending: the process, or that of a conversation which this
   * one continues, may have ended between storing the conversation and marking its messages.
   */
  #contained(inbox: Inbox): Record<'answered' | 'unanswered', readonly number[]> {
    const { earlier = [] } = this.#deps;
    const { project, conversation } = this.#owner;
    const known = new Set(this.#deps.known);
    const unanswered = new Set(this.#deps.unanswered?.());
    const contained = { answered: [] as number[], unanswered: [] as number[] };
    for (const id of known.size === 0 ? [] : [conversation, ...earlier]) {
      const pending = inbox.allPending({ project, conversation: id }, this.#servers.sources('idle'));
      for (const message of pending) {
        const key = messageKey(message);
        if (!known.has(key)) continue;
        if (!unanswered.has(key)) contained.answered.push(message.seq);
        // A conversation of which this one is a fork may still be answered.
        else if (id === conversation || inbox.holder(id) !== 'other') contained.unanswered.push(message.seq);
      }
    }
    return contained;
  }

  #poll(): void {
    if (this.#isClosed) return;
    this.#reportRefusals();
    if (!this.#inbox.isOpen) {
      if (this.#isOpening || !this.#inbox.isDue) return;
      this.#isOpening = true;
      this.#opening = this.#open();
      return;
    }
    if (this.#unmarked.length > 0) this.#mark();
    this.#store();
    const version = this.#inbox.read((inbox) => inbox.version);
    if (version !== undefined && version !== this.#version) {
      if (this.#adopt()) this.#version = version;
    }
    if (this.#mayBePending) this.#deps.onPending();
  }

  /** Takes over pending messages without a conversation, and looks for messages that another process released. */
  #adopt(): boolean {
    const adopted = this.#isReceiver()
      ? this.#inbox.write((inbox) => inbox.adopt(this.#owner, this.#servers.sources('idle')))
      : undefined;
    this.#mayBePending = true;
    this.#deps.onPending();
    return adopted !== undefined;
  }

  #receiveMessage(server: string, params: Readonly<Record<string, unknown>>): void {
    const setting = this.#servers.setting(server);
    if (!setting) {
      this.#noteOnce(
        server,
        `MCP server "${server}" pushed a message, but it is not enabled as a channel: its messages are ignored. Enable it with --channels server:${server} or "channels" in settings`,
      );
      return;
    }
    // Judged at once: only the beginning of a message that is too large is held in memory.
    const admission = this.#judge(server, params, setting);
    if (this.#servers.isConnected(server)) {
      this.#admit(server, admission);
      return;
    }
    const early = this.#early.get(server) ?? [];
    this.#early.set(server, early);
    if (early.length < MAX_HELD) early.push(admission);
    else this.#refuse(server, { reason: 'quota' });
  }

  #judge(server: string, params: Readonly<Record<string, unknown>>, setting: ChannelSetting): Admission {
    const pushed = parsePushed(params);
    if ('fault' in pushed) return { reason: 'invalid', message: pushed.fault };
    const rate = this.#rates.get(server) ?? new RateLimit();
    this.#rates.set(server, rate);
    if (!rate.admits(this.#deps.clock.now(), setting.maxPerMinute)) return { reason: 'rate', id: pushed.id };
    return judgeMessage(server, pushed, setting);
  }

  /** Takes a message of a connected server on its way to the inbox. */
  #admit(server: string, admission: Admission): void {
    if (!this.#servers.isChannel(server)) return;
    if (!('content' in admission)) {
      this.#refuse(server, admission);
      return;
    }
    if (this.#incoming.length >= MAX_HELD) this.#store();
    if (this.#incoming.length >= MAX_HELD) {
      this.#refuse(server, { reason: 'storage', id: admission.id });
      return;
    }
    this.#incoming.push({ server, message: admission });
    // Messages that arrive together are stored together: one write to the disk for all of them.
    this.#flush ??= setImmediate(() => this.#store());
  }

  #receiveAnswer(server: string, params: Readonly<Record<string, unknown>>): void {
    const setting = this.#servers.setting(server);
    if (!setting || !this.#servers.isChannel(server)) return;
    const [fault] = senderFault({ meta: parseMeta(params.meta) }, setting);
    this.relay.receive(server, params, fault);
  }

  /** Writes received messages to the inbox, then acknowledges them. `quietly` skips `onPending`: the caller already looks for pending messages. */
  #store(how?: 'quietly'): void {
    clearImmediate(this.#flush);
    this.#flush = undefined;
    const batch = this.#incoming;
    if (!this.#hasMoved() || batch.length === 0 || !this.#inbox.isDue) return;
    const outcomes = this.#inbox.write((inbox) =>
      inbox.admit(
        this.#owner,
        batch.map(({ message }) => message),
      ),
    );
    if (!outcomes) return;
    this.#incoming = [];
    this.#written();
    for (const [at, { server, message }] of batch.entries()) {
      const outcome = outcomes[at];
      if (!outcome) continue;
      if (outcome.kind === 'quota') this.#refuse(server, { reason: 'quota', id: message.id });
      else if (outcome.kind === 'conflict') this.#refuse(server, { reason: 'duplicate', id: message.id });
      else this.#servers.notify(server, CHANNEL.ack, { id: outcome.id, state: message.state });
      if (outcome.kind === 'admitted' && message.state === 'quarantined') {
        this.#noteOnce(
          `${server} quarantine`,
          `channel "${server}": a message was quarantined (${message.reason}); see: toolplane channels tail --state quarantined`,
        );
      }
    }
    if (outcomes.some(({ kind }) => kind === 'admitted')) {
      this.#mayBePending = true;
      if (how !== 'quietly') this.#deps.onPending();
    }
  }

  #mark(): void {
    if (this.#unmarked.length === 0) return;
    const seqs = this.#unmarked;
    const isMarked = this.#inbox.write((inbox) => {
      inbox.deliver(seqs);
      return true;
    });
    if (!isMarked) return;
    this.#unmarked = [];
    this.#written();
  }

  /** Whether this session receives the messages of the conversation: another process may have resumed it too. */
  #isReceiver(): boolean {
    const holder = this.#inbox.read((inbox) => inbox.holder(this.#owner.conversation));
    return holder === undefined ? this.#enter() : holder === 'this';
  }

  #enter(): boolean {
    const isEntered = this.#inbox.isDue ? this.#inbox.write((inbox) => inbox.enter(this.#owner)) : undefined;
    // What waits in an inbox that can only be read is delivered; a process that writes may take it at this moment.
    return isEntered ?? !this.#inbox.isLocked;
  }

  #beat(): void {
    this.#enter();
    // Not reported earlier: a session that is ending has the conversation for a moment only.
    if (this.#inbox.read((inbox) => inbox.holder(this.#owner.conversation)) === 'other')
      this.#noteOnce(
        'elsewhere',
        'the conversation is open in another session, which receives the messages of its channels; this session receives them once the other one has ended. To receive messages in both, fork the conversation',
      );
  }

  /** Whether something is in memory that is not in the inbox. */
  get #isHolding(): boolean {
    return [this.#left, this.#incoming, this.#unmarked].some(({ length }) => length > 0);
  }

  #written(): void {
    if (!this.#isHolding) this.#inbox.recovered();
  }

  #retry(): void {
    if (this.#isClosed) return;
    this.#mark();
    this.#store();
    if (this.#inbox.isLocked && this.#inbox.isDue) this.#enter();
  }

  #refuse(server: string, { reason, id, message }: Refusal): void {
    const params = { reason, ...(id !== undefined && { id }), ...(message !== undefined && { message }) };
    this.#servers.notify(server, CHANNEL.nack, params);
    const known = this.#refusals.get(server);
    this.#refusals.set(server, { count: (known?.count ?? 0) + 1, reason });
  }

  /** One note per channel and minute for any number of refused messages; all are counted in the inbox. */
  #reportRefusals(): void {
    for (const [server, { count, reason }] of this.#refusals) {
      const what = count === 1 ? '1 message was refused' : `${count} messages were refused`;
      if (this.#noteLimit.passes(server))
        this.#deps.note(`channel "${server}": ${what}: ${REFUSALS[reason]}`);
      this.#inbox.write((inbox) => inbox.refuse(this.#owner.project, server, count));
    }
    this.#refusals.clear();
  }

  #noteOnce(key: string, text: string): void {
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    this.#deps.note(text);
  }

  #every(ms: number, run: () => void): void {
    // Not unref'ed: a program that waits for messages must not end.
    const timer = setInterval(run, ms);
    this.#stops.push(() => clearInterval(timer));
  }
}
