import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../base/files/replace-file.ts';
import type { Frame } from '../../protocol/control-frame.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import type { ProtocolMessage, TeamService } from '../builtins/agents/team-service.ts';
import type { Lists } from '../task-list/lists.ts';
import type { Moment, NoticeBatch, NoticeSource } from '../tasks/notices.ts';
import { ownerText, parseOwner } from '../tasks/process-owner.ts';
import { Mailbox, type TeamMessage } from './mailbox.ts';
import type { TaskWorktrees } from './task-worktrees.ts';
import { LEAD, messageText } from './team-protocol.ts';
import { leadService, Teammate, type TeammateOptions } from './teammate.ts';

type TeamDeps = {
  readonly lists: Lists;
  readonly worktrees: TaskWorktrees;
  /** The directory of the teams that work on the task list; it survives the process. */
  directory(): string;
  /** The id of the session, which names the mailbox of its lead. */
  readonly sessionId: string;
  emit(message: Frame): void;
  /** Called when a message for the lead waits. */
  onMessage(): void;
  note(text: string): void;
  /** How often idle teammates look for messages and tasks that other processes have added. */
  readonly pollMs?: number;
};

const POLL_MS = 1_000;
/** Valid names of teammates. A name is also the directory name of the mailbox. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The teammates of a session, and the mailbox of its lead. */
export class Team implements NoticeSource, AsyncDisposable {
  readonly #deps: TeamDeps;
  readonly #members = new Map<string, Teammate>();
  #directory: string | undefined;
  #mailbox: Mailbox | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isPollDue = false;
  #isEnded = false;

  constructor(deps: TeamDeps) {
    this.#deps = deps;
  }

  /** Why an agent cannot join; undefined if it can. */
  joinFault(name: string): string | undefined {
    if (!NAME.test(name) || name === LEAD)
      return `“${name}” cannot be the name of a teammate: use up to 64 letters, digits, “_” and “-”, and not “${LEAD}”`;
    if (this.#members.get(name)?.state === 'working')
      return `A teammate named “${name}” is at work: send it a message with SendMessage, or use another name`;
    // Tasks name their owner: two of the same name would take the tasks of each other.
    if (!this.#members.has(name) && isAlive(join(this.#open(), 'members', name)))
      return `Another session has a teammate named “${name}”: use another name`;
    return undefined;
  }

  join(options: TeammateOptions): Teammate {
    const directory = this.#open();
    mkdirSync(join(directory, 'members'), { recursive: true, mode: 0o700 });
    replaceFile(join(directory, 'members', options.name), ownerText());
    const member = new Teammate(options, {
      directory,
      lists: this.#deps.lists,
      worktrees: this.#deps.worktrees,
      sendToLead: (message) => this.#sendToLead(message),
      onChange: () => this.#report(),
      onFreeTasks: () => this.#pollSoon(),
    });
    this.#members.set(options.name, member);
    this.#timer ??= setInterval(() => this.#poll(), this.#deps.pollMs ?? POLL_MS).unref();
    return member;
  }

  get members(): readonly Teammate[] {
    return [...this.#members.values()];
  }

  /** The team as the lead uses it. */
  forLead(): TeamService {
    return leadService(this.#deps.lists, () => this.#pollSoon());
  }

  /** Puts a message into a mailbox; returns why that is not possible. */
  send(from: string, to: string, text: string, protocol?: ProtocolMessage): string | undefined {
    const kind = protocol?.kind ?? 'message';
    const { requestId, isApproved } = protocol ?? {};
    const fault = this.#protocolFault(from, to, protocol);
    if (fault !== undefined) return fault;
    const message: TeamMessage = {
      id: randomUUID(),
      from,
      kind,
      text,
      ...(kind === 'shutdown_request'
        ? { requestId: `shutdown-${randomUUID().slice(0, 8)}` }
        : requestId !== undefined && { requestId }),
      ...(isApproved !== undefined && { isApproved }),
    };
    if (to === LEAD) return this.#sendToLead(message);
    const member = this.#members.get(to);
    if (!member) return `there is no teammate “${to}”; ListAgents lists them`;
    return sendFault(member.mailbox.send(message), to);
  }

  get hasNotices(): boolean {
    return this.#mailbox?.hasMessages === true;
  }

  /** The messages for the lead. */
  take(moment: Moment): NoticeBatch | undefined {
    const mailbox = this.#mailbox;
    const taken = moment === 'prompt' ? [] : (mailbox?.take() ?? []);
    if (!mailbox || taken.length === 0) return undefined;
    const ids = taken.map(({ id }) => id);
    return {
      notices: taken.map((message) => ({
        text: messageText(message),
        origin: {
          kind: 'peer',
          from: message.from,
          senderTaskId: this.#members.get(message.from)?.options.id ?? '',
          body: message.text,
        },
      })),
      channelMessages: [],
      stored: () => mailbox.acknowledge(ids),
      dropped: () => mailbox.giveBack(ids),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    clearInterval(this.#timer);
    const { lists } = this.#deps;
    for (const { name, worktree } of this.#members.values()) {
      if (worktree) await this.#deps.worktrees.keep(worktree);
      lists.tasks.release(name);
      rmSync(join(this.#open(), 'members', name), { force: true });
    }
  }

  #open(): string {
    if (this.#directory !== undefined) return this.#directory;
    const { directory, sessionId } = this.#deps;
    this.#directory = directory();
    this.#mailbox = new Mailbox(join(this.#directory, 'leads', sessionId));
    this.#releaseCrashed(this.#directory);
    return this.#directory;
  }

  /** Releases the tasks of teammates whose process has ended without doing so. */
  #releaseCrashed(directory: string): void {
    for (const name of membersIn(directory)) {
      const path = join(directory, 'members', name);
      if (this.#members.has(name) || isAlive(path)) continue;
      const released = this.#deps.lists.tasks.release(name);
      rmSync(path, { force: true });
      if (released.length > 0)
        this.#deps.note(
          `${released.length === 1 ? 'task' : 'tasks'} #${released.join(', #')} of the teammate ${name}, whose process has ended, ${released.length === 1 ? 'is' : 'are'} free again`,
        );
    }
  }

  #sendToLead(message: TeamMessage): string | undefined {
    this.#open();
    const fault = sendFault(this.#mailbox?.send(message) ?? 'full', LEAD);
    // Deferred until the sender's code has returned, because a turn of the lead may begin.
    if (fault === undefined) queueMicrotask(() => this.#deps.onMessage());
    return fault;
  }

  #protocolFault(from: string, to: string, protocol: ProtocolMessage | undefined): string | undefined {
    if (!protocol) return undefined;
    const { kind, requestId, isApproved } = protocol;
    if (kind === 'shutdown_response') {
      const sender = this.#members.get(from);
      if (!sender || to !== LEAD) return `only a teammate can send ${kind}, and only to “${LEAD}”`;
      if (isApproved === undefined) return `${kind} requires approve: true or false`;
      return sender.answerShutdown(requestId, isApproved);
    }
    if (from !== LEAD || to === LEAD) return `only the lead can send ${kind}, and only to a teammate`;
    if (kind === 'plan_approval_response' && isApproved === undefined)
      return `${kind} requires approve: true or false`;
    return this.#members.get(to)?.fault({ kind, ...(requestId !== undefined && { requestId }) });
  }

  #pollSoon(): void {
    if (this.#isPollDue) return;
    this.#isPollDue = true;
    queueMicrotask(() => {
      this.#isPollDue = false;
      this.#poll();
    });
  }

  #poll(): void {
    if (this.#isEnded) return;
    try {
      this.#releaseCrashed(this.#open());
      for (const member of this.#members.values()) member.poll();
    } catch (cause) {
      // A full disk, for example; the next poll tries again.
      this.#deps.note(`the team could not look for work: ${messageOf(cause)}`);
    }
  }

  /** Reports the team to the program. */
  #report(): void {
    const teammates = this.members.map(({ name, options, state, mode, task, worktree }) => ({
      name,
      agent_id: options.id,
      agent_type: options.type,
      state,
      ...(mode !== undefined && { permission_mode: mode }),
      ...(task && { task: { id: task.id, subject: task.subject } }),
      ...(worktree && { worktree_path: worktree.path }),
    }));
    this.#deps.emit({ type: 'system', subtype: 'team_changed', teammates });
  }
}

/** Whether the process that a member's file names still runs. */
function isAlive(path: string): boolean {
  try {
    return parseOwner(readFileSync(path, 'utf8'))?.isAlive === true;
  } catch {
    return false;
  }
}

function membersIn(directory: string): readonly string[] {
  try {
    return readdirSync(join(directory, 'members')).filter((name) => NAME.test(name));
  } catch {
    return [];
  }
}

function sendFault(sent: ReturnType<Mailbox['send']>, to: string): string | undefined {
  if (sent === 'full') return `the mailbox of “${to}” is full; send the message again later`;
  return sent === 'too-large' ? 'the message is too large; put long texts into a file' : undefined;
}
