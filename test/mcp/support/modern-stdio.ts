// The server of the stateless protocol as a process.
import { serveStdio } from '../../../interop/node_modules/@modelcontextprotocol/server/dist/stdio.mjs';
import { calls, makeModern } from './modern-tools.ts';

calls.addEventListener('taken back', () => console.error('taken back'));

serveStdio(makeModern, { legacy: 'reject' });
