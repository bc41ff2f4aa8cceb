// Opens the given targets and waits to be killed: node elsewhere.ts CONTENDER TARGETS
import type { Target } from './contender.ts';
import { CONTENDERS, type ContenderName } from './contenders/table.ts';

const [name, targets] = process.argv.slice(2);
const servers = JSON.parse(targets ?? '{}') as Record<string, Target>;
const contender = await CONTENDERS[name as ContenderName]();
const session = contender.open(servers, { connectMs: 8_000 });
await Promise.all(Object.keys(servers).map((server) => session.ready(server)));
process.send?.('ready');
setTimeout(() => process.exit(99), 60_000);
