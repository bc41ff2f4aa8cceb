import type { Wear, WearReport } from '../../drivers/connection-wear.ts';
import type { Target } from '../../drivers/mcp-caller.ts';
import type { GroupContext } from '../../group.ts';
import { limit, type Row } from '../../row.ts';
import { ourHost, STDIO, serveHttp } from './tiny-servers.ts';

const COUNTS = {
  quick: { calls: 2000, reconnects: 100, restarts: 5 },
  default: { calls: 5000, reconnects: 300, restarts: 20 },
  full: { calls: 10_000, reconnects: 900, restarts: 100 },
};

/** Heap growth after many calls and reconnects, and handles and processes after the host is closed. */
export async function measureWear(context: GroupContext): Promise<Row[]> {
  const counts = COUNTS[context.effort];
  const said = `${counted(counts.calls)} calls, ${counted(counts.reconnects + counts.restarts)} reconnects`;
  context.progress(said);
  await using servers = await serveHttp(context, { count: 1 });
  const task: Wear = {
    host: ourHost(context).host,
    http: servers.targets[0] as Target,
    stdio: STDIO,
    ...counts,
  };
  const { grownBytes, handles, processes } = await context.lab.drive<WearReport>('connection-wear', [task], {
    nodeArgs: ['--expose-gc'],
  });
  const grown = grownBytes / 1024 / 1024;
  return [
    limit(`${said}: heap growth MB after GC`, grown, 'none', { is: '<', limit: 2 }),
    limit(`${said}: handles left after close`, handles.length, named(handles), { is: '=', limit: 0 }),
    limit(`${said}: processes left after close`, processes.length, named(processes), { is: '=', limit: 0 }),
  ];
}

function named(things: readonly string[]): string {
  return things.length === 0 ? 'none' : things.join(', ');
}

function counted(value: number): string {
  return value.toLocaleString('en');
}
