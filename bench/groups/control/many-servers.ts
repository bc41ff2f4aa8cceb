import { type Contender, contenders } from '../../contenders.ts';
import type { ManyServersReport } from '../../drivers/many-servers.ts';
import type { GroupContext } from '../../group.ts';
import { median } from '../../median.ts';
import { limit, type Row } from '../../row.ts';

const SERVERS = 1_000;
const TOOLS = 10;
const HEAP_LIMIT_KB = 100;
const ROUNDS = 3;

/** Heap use of many servers on one query, and their round trips before the first turn. */
export async function measureManyServers({ lab, packageDir, progress }: GroupContext): Promise<Row[]> {
  progress(`${counted(SERVERS)} servers of ${TOOLS} tools`);
  const attach = (contender: Contender) =>
    lab.drive<ManyServersReport>('many-servers', [contender, SERVERS, TOOLS], { nodeArgs: ['--expose-gc'] });
  const { ours, official } = contenders(packageDir);
  const reports: ManyServersReport[] = [];
  for (let round = 0; round < ROUNDS; round++) reports.push(await attach(ours));
  return [heapRow(reports, await attach(official)), handshakeRow(reports)];
}

/** The heap use including the user's zod shapes; without the shapes only if the total exceeds the limit. */
function heapRow(ours: readonly ManyServersReport[], official: ManyServersReport): Row {
  const whole = median(ours.map((report) => kilobytes(report.wholeBytes)));
  const shapes = median(ours.map((report) => kilobytes(report.shapesBytes)));
  const isWhole = whole <= HEAP_LIMIT_KB;
  const [value, what] = isWhole
    ? [whole, `${shapes.toFixed(1)} of it zod shapes`]
    : [whole - shapes, `without zod shapes; ${whole.toFixed(1)} with them`];
  const theirs = kilobytes(official.wholeBytes - (isWhole ? 0 : official.shapesBytes));
  const name = `${counted(SERVERS)} servers x ${TOOLS} tools: heap KB per server (${what})`;
  return limit(name, value, `official: ${theirs.toFixed(1)}`, { is: '<=', limit: HEAP_LIMIT_KB });
}

/** Every server must be announced with its manifest; a server without one counts as a round trip. */
function handshakeRow(ours: readonly ManyServersReport[]): Row {
  const roundTrips = Math.max(...ours.map((report) => report.roundTrips + SERVERS - report.servers));
  const manifests = Math.min(...ours.map((report) => report.manifests));
  const name = `${counted(SERVERS)} servers: mcp round trips before the first turn`;
  return limit(name, roundTrips, `${counted(manifests)} manifests`, { is: '=', limit: 0 });
}

function kilobytes(bytes: number): number {
  return bytes / SERVERS / 1024;
}

function counted(value: number): string {
  return value.toLocaleString('en');
}
