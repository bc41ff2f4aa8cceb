import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Inbox } from '../../src/channels/inbox.ts';
import { CLI } from '../support/setup/built-package.ts';

const IS_LONG = process.env.TOOLPLANE_LONG_TESTS === '1';
const SERVERS = IS_LONG ? 10 : 3;
const PER_SERVER = IS_LONG ? 10_000 : 400;
const KILLS = IS_LONG ? 50 : 6;
const SESSION = '11111111-2222-4333-8444-555555555555';
const PUSH_SERVER = fileURLToPath(new URL('fixtures/push-server.mjs', import.meta.url));

test(
  `${SERVERS * PER_SERVER} messages of ${SERVERS} servers survive ${KILLS} kills: none lost, none twice, in order`,
  async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'channel-kills-')));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
    const names = Array.from({ length: SERVERS }, (_, at) => `s${at}`);
    const mcpServers = Object.fromEntries(names.map((name) => [name, pushServer(directory, name)]));
    writeFileSync(join(directory, 'servers.json'), JSON.stringify({ mcpServers }));
    const home = join(directory, 'home');

    for (let kill = 0; kill < KILLS; kill++) {
      const agent = startAgent(directory, names, kill === 0 ? 'new' : 'resumed');
      // Random moments: while servers connect, while messages are stored, while turns run.
      await delay(200 + Math.random() * 800);
      agent.kill('SIGKILL');
      await once(agent, 'close');
    }
    const agent = startAgent(directory, names, 'resumed');
    const inbox = await waitForInbox(home);
    const waiting = () => inbox.messages({ states: ['pending'] }, 1).length;
    const stored = () => inbox.summaries().reduce((sum, { counts }) => sum + counts.delivered, 0);
    while (stored() < SERVERS * PER_SERVER || waiting() > 0) {
      expect(agent.exitCode).toBe(null);
      await delay(250);
    }
    inbox[Symbol.dispose]();
    agent.stdin.end();
    await once(agent, 'close');

    const received = receivedIn(home);
    for (const name of names) {
      const own = received.filter(([source]) => source === name).map(([, n]) => n);
      expect(own).toEqual(Array.from({ length: PER_SERVER }, (_, at) => at + 1));
    }
  },
  IS_LONG ? 1_800_000 : 120_000,
);

function pushServer(directory: string, name: string): object {
  return {
    command: process.execPath,
    args: [PUSH_SERVER],
    env: { PUSH_NAME: name, PUSH_COUNT: String(PER_SERVER), PUSH_STATE: join(directory, `${name}.acked`) },
  };
}

/** The agent in a process of its own, with the offline stand-in for a model. */
function startAgent(
  directory: string,
  names: readonly string[],
  how: 'new' | 'resumed',
): ChildProcessWithoutNullStreams {
  // A conversation that was killed before its first turn does not exist.
  const isStored = how === 'resumed' && transcripts(join(directory, 'home')).length > 0;
  const args = [
    ...[
      'agent',
      '--model',
      'rehearsal',
      '--mcp-config',
      join(directory, 'servers.json'),
      '--strict-mcp-config',
    ],
    ...['--channels', names.map((name) => `server:${name}`).join(',')],
    ...(isStored ? ['--resume', SESSION] : ['--session-id', SESSION]),
  ];
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    TOOLPLANE_HOME: join(directory, 'home'),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  };
  const child = spawn(process.execPath, [CLI, ...args], { cwd: directory, env });
  const request = { type: 'control_request', request_id: '1', request: { subtype: 'initialize' } };
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(request)}\n`);
  // The output is read, so that a full pipe does not block the agent.
  createInterface({ input: child.stdout }).on('line', () => {});
  child.stderr.resume();
  return child;
}

function transcripts(home: string): string[] {
  return globSync(`**/${SESSION}.jsonl`, { cwd: home }).map((path) => join(home, path));
}

/** The source and number of each message in the stored conversation, in order. */
function receivedIn(home: string): [source: string, n: number][] {
  const [path = ''] = transcripts(home);
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { type?: string; content?: unknown })
    .filter(({ type }) => type === 'user' || type === 'results')
    .flatMap(({ content }) =>
      [...JSON.stringify(content).matchAll(/<channel source=\\"(\w+)\\" id=\\"\w+-(\d+)\\">/g)].map(
        ([, source = '', n]): [string, number] => [source, Number(n)],
      ),
    );
}

async function waitForInbox(home: string): Promise<Inbox> {
  return Inbox.open(join(home, 'channels'));
}
