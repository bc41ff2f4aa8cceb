import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Scope } from '../src/base/async/scope.ts';
import type { Contender, Session } from './contender.ts';
import type { ContenderName } from './contenders/table.ts';
import { Events } from './events.ts';
import type { Stage } from './fault.ts';
import { answers } from './judge.ts';

const SERVER = fileURLToPath(new URL('servers/stdio.mjs', import.meta.url));
const ELSEWHERE = fileURLToPath(new URL('elsewhere.ts', import.meta.url));

type Setting = {
  name: ContenderName;
  contender: Contender;
  directory: string;
  isQuick: boolean;
  /** Owns everything that the fault opens. */
  scope: Scope;
};

/** The stage, and its clients that are not closed. */
export function setStage({ name, contender, directory, isQuick, scope }: Setting): {
  stage: Stage;
  opened: ReadonlySet<Session>;
} {
  const opened = new Set<Session>();
  const stage: Stage = {
    isQuick,
    directory,
    events: new Events(directory),
    stdio: (behaviour, { env = {}, isTrusted = false } = {}) => ({
      kind: 'stdio',
      command: process.execPath,
      args: [SERVER, behaviour],
      env: { CHAOS_DIRECTORY: directory, ...env },
      isTrusted,
    }),
    open(targets, limits) {
      const session = contender.open(targets, { connectMs: 8_000, ...limits });
      const close = async () => {
        if (opened.delete(session)) await session.close();
      };
      opened.add(session);
      return { ...session, close };
    },
    own: (it) => scope.own(it, (owned) => owned[Symbol.asyncDispose]()),
    async openElsewhere(targets) {
      const child = fork(ELSEWHERE, [name, JSON.stringify(targets)], { stdio: 'ignore', detached: true });
      scope.own(child, async (started) => void started.kill('SIGKILL'));
      await answers(10_000, 'the other program', once(child, 'message'));
      return child.pid as number;
    },
  };
  return { stage, opened };
}
