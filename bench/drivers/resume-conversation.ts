// Resumes a stored conversation in a new process. Arguments: the URL of the agent's modules and the id of the session. Prints
// the time from the start of the session to its first model request, in milliseconds, with the code loaded.
import { openCountedSession } from './counted-session.ts';

const [, , module, id] = process.argv.map((arg, at) => (at > 1 ? JSON.parse(arg) : arg));
await import(module);
await using session = await openCountedSession(module, id);
await session.turn();
console.log(JSON.stringify(await session.firstRequestMs));
