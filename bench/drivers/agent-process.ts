// Starts an agent process, as an SDK does, and waits until it has answered `initialize`. Argument: the command as JSON, or
// "cli" for the real agent CLI. Each line on stdin starts one process and is answered with its figures. All processes share one
// home directory, which is deleted at the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from '../../test/support/model-api/model-reply.ts';
import { openCliSandbox } from '../../test/support/real-cli.ts';

export type AgentStart = {
  /** Time from spawn to the response, in milliseconds. */
  ms: number;
  /** Resident memory at the response, in MB; undefined without /proc. */
  memory?: number;
};

const FLAGS = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
const INITIALIZE = {
  type: 'control_request',
  request_id: '1',
  request: { subtype: 'initialize', hooks: {} },
};

await using world = await openCliSandbox(() => text('Hello.'));
const given = JSON.parse(process.argv[2] as string) as string[] | 'cli';
const [command = '', ...args] = given === 'cli' ? [world.cli] : given;
for await (const _ of createInterface(process.stdin)) console.log(JSON.stringify(await start()));

async function start(): Promise<AgentStart> {
  const since = performance.now();
  const child = spawn(command, [...args, ...FLAGS], {
    cwd: world.cwd,
    env: world.env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  for await (const line of createInterface(child.stdout)) {
    if (JSON.parse(line).type !== 'control_response') continue;
    const ms = performance.now() - since;
    const memory = residentMemory(child.pid as number);
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
    return { ms, ...(memory !== undefined && { memory }) };
  }
  throw new Error(`${command} ended before it answered`);
}

function residentMemory(pid: number): number | undefined {
  const file = `/proc/${pid}/status`;
  const kilobytes = existsSync(file)
    ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1]
    : undefined;
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1000;
}
