// Faults in tool lists.
import { text } from '../stdio-server.mjs';

const SCHEMA = { type: 'object' };
const CHANGED = 'notifications/tools/list_changed';

export const list = {
  'repeated-cursor': (server) => {
    server.methods.set('tools/list', () => ({ tools: server.definitions(), nextCursor: 'again' }));
  },

  'endless-pages': (server) => {
    let page = 0;
    server.methods.set('tools/list', () => {
      const extra = { name: `tool-${page++}`, inputSchema: SCHEMA };
      return { tools: page === 1 ? [...server.definitions(), extra] : [extra], nextCursor: `page-${page}` };
    });
  },

  '5000-tools': (server) => {
    for (let i = 0; i < 5_000; i++) {
      const description = `Tool ${i}. ${'It does something useful. '.repeat(8)}`;
      server.tools.set(`tool-${i}`, { description, run: () => text(`i am ${i}`) });
    }
  },

  'bad-tool-among-good': (server) => {
    const bad = [
      { name: 'no-schema', inputSchema: null },
      { name: 7, inputSchema: SCHEMA },
      { inputSchema: SCHEMA },
      { name: 'wrong-type', inputSchema: { type: 'array' } },
      { name: 'bad-annotations', inputSchema: SCHEMA, annotations: 'many' },
      { name: 'bad-description', inputSchema: SCHEMA, description: 5 },
      'text',
      null,
    ];
    server.tools.set('good', { run: () => text('good') });
    server.methods.set('tools/list', () => ({ tools: [...bad, ...server.definitions()] }));
  },

  'list-changed-storm': (server) => {
    server.tools.set('storm', {
      run: ({ count }) => {
        server.note('storm');
        for (let i = 0; i < count; i++) server.notify(CHANGED);
        server.tools.set('new', { run: () => text('new') });
        server.notify(CHANGED);
        return text('over');
      },
    });
  },

  'tools-vanish': (server) => {
    server.tools.set('fading', { run: () => text('still here') });
    server.tools.set('shrink', {
      run: () => {
        server.tools.delete('fading');
        server.notify(CHANGED);
        return text('shrunk');
      },
    });
  },

  'odd-names': (server) => {
    for (const name of JSON.parse(process.env.CHAOS_NAMES)) server.tools.set(name, { run: () => text(name) });
  },
};
