// node stdio.mjs BEHAVIOUR: a server that goes wrong in one way.
import { call } from './behaviours/call.mjs';
import { hostile } from './behaviours/hostile.mjs';
import { life } from './behaviours/life.mjs';
import { list } from './behaviours/list.mjs';
import { relist } from './behaviours/relist.mjs';
import { wire } from './behaviours/wire.mjs';
import { StdioServer } from './stdio-server.mjs';

const behave = { healthy: () => {}, ...life, ...wire, ...list, ...relist, ...call, ...hostile }[
  process.argv[2]
];
if (!behave) throw new Error(`no behaviour "${process.argv[2]}"`);
const server = new StdioServer();
behave(server);
server.start();
