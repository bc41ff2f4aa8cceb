// A process that a server starts and leaves running.
import { note } from './stdio-server.mjs';

note('started');
setTimeout(() => process.exit(99), 60_000);
