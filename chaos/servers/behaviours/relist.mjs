// Faults in changing tool lists.
import { text } from '../stdio-server.mjs';

const CHANGED = 'notifications/tools/list_changed';

export const relist = {
  // The notification arrives together with the first list.
  'changed-with-first-list': (server) => {
    let lists = 0;
    server.methods.set('tools/list', (_, { id }) => {
      const result = { tools: server.definitions() };
      if (lists++ > 0) return result;
      server.tools.set('late', { run: () => text('late') });
      const messages = [
        { jsonrpc: '2.0', id, result },
        { jsonrpc: '2.0', method: CHANGED },
      ];
      server.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    });
  },

  // The notification arrives after the first list, while other lists are pending.
  'changed-after-first-list': (server) => {
    let lists = 0;
    server.methods.set('initialize', (params) => {
      const said = server.initialized(params);
      return { ...said, capabilities: { ...said.capabilities, prompts: {} } };
    });
    server.methods.set('prompts/list', (_, { id }) => {
      setTimeout(() => server.answer(id, { prompts: [] }), 300);
    });
    server.methods.set('tools/list', () => {
      const tools = server.definitions();
      if (lists++ === 0) {
        server.tools.set('late', { run: () => text('late') });
        setTimeout(() => server.notify(CHANGED), 100);
      }
      return { tools };
    });
  },

  'relist-storm': (server) => {
    let lists = 0;
    server.methods.set('tools/list', () => {
      if (lists++ > 0) server.notify(CHANGED);
      setTimeout(() => server.notify(CHANGED), 40);
      return { tools: server.definitions() };
    });
  },

  'relist-hang': (server) => {
    let lists = 0;
    server.methods.set('tools/list', () => {
      if (lists++ > 0) return;
      setTimeout(() => server.notify(CHANGED), 300);
      return { tools: server.definitions() };
    });
  },
};
