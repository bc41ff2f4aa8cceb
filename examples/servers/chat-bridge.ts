// A channel to a chat room: people write to the agent, and the agent replies with a tool. The people in CHAT_APPROVERS can
// also answer permission requests, with "yes abcde" or "no abcde". The names are not verified: a real bridge takes them
// from a service that signs people in. Start: CHAT_APPROVERS=ann toolplane serve examples/servers/chat-bridge.ts
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { toolServer } from 'toolplane';
import { z } from 'zod';

/** The people in the room, by name: each has a connection, such as `nc 127.0.0.1 8789`, and sends its name first. */
const people = new Map<string, Socket>();
const approvers = (process.env.CHAT_APPROVERS ?? '').split(',');
type Answer = { behavior: 'allow' | 'deny'; meta: { sender: string } };
const questions = new Map<string, (answer: Answer) => void>();

const room = toolServer('chat', {
  instructions: 'Messages of this channel are from people in a chat room. Answer them with the tool reply.',
  channel: {
    onPermissionRequest: ({ request_id: id, tool_name, input_preview }, { signal }) => {
      say(`The agent wants to use ${tool_name} ${input_preview}: answer "yes ${id}" or "no ${id}"`);
      signal.addEventListener('abort', () => questions.delete(id) && say(`${id} was answered elsewhere`));
      return new Promise((resolve) => questions.set(id, resolve));
    },
  },
}).tool(
  'reply',
  'Write to a person in the chat room, or to all',
  { to: z.string().optional().describe('The name of the person; without it, everybody'), text: z.string() },
  ({ to, text }) => {
    if (to !== undefined && !people.has(to)) return new Error(`${to} is not in the room`);
    say(text, to);
    return 'sent';
  },
);
export default room;

export const listener = createServer((socket) => {
  let name = '';
  const lines = createInterface(socket);
  // A connection may break at any time; "close" follows.
  lines.on('error', () => {});
  lines.on('line', (line) => {
    if (name === '') {
      name = line;
      return join(name, socket);
    }
    const [, answer, id = ''] = /^(yes|no) ([a-z]{5})$/.exec(line) ?? [];
    const settle = questions.get(id);
    if (settle && !approvers.includes(name)) return say('You may not answer permission requests.', name);
    if (settle) questions.delete(id);
    if (settle) return settle({ behavior: answer === 'yes' ? 'allow' : 'deny', meta: { sender: name } });
    const meta = { sender: name, id: crypto.randomUUID() };
    room.channel.send(line, meta).catch(() => say('The agent is not connected; please try again.', name));
  });
  socket.on('close', () => people.delete(name)).on('error', () => people.delete(name));
});
listener.listen(Number(process.env.CHAT_PORT ?? 8789), '127.0.0.1');

function join(name: string, socket: Socket): void {
  people.set(name, socket);
  say(`Hello ${name}.`, name);
}

function say(text: string, to?: string): void {
  for (const [name, socket] of people) if (to === undefined || to === name) socket.write(`${text}\n`);
}
