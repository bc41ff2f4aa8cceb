// Resources and prompts of servers.
import assert from 'node:assert/strict';
import { createSdkMcpServer } from 'toolplane';
import { createHost } from 'toolplane/host';

// #region resources
const handbook = createSdkMcpServer({
  name: 'handbook',
  resources: [{ uri: 'handbook://rules', name: 'rules', mimeType: 'text/markdown', read: () => '# Be kind' }],
  prompts: [
    {
      name: 'welcome',
      arguments: [{ name: 'who', required: true }],
      get: ({ who }) => `Welcome ${who}, and read the rules.`,
    },
  ],
});

await using host = createHost({ mcpServers: { handbook } });
await host.ready();

for (const { server, uri } of await host.listResources()) console.log(`${server}: ${uri}`);
const { contents } = await host.readResource('handbook', 'handbook://rules');
console.log(contents);
const { messages } = await host.getPrompt('handbook', 'welcome', { who: 'Ada' });
console.log(messages[0]?.content);
await host.getPrompt('handbook', 'welcome').catch(({ message }) => console.log(message));
// #endregion

assert.equal(contents.length, 1);

// #region templates
let visits = 0;
const library = createSdkMcpServer({
  name: 'library',
  resources: [
    {
      uri: 'library://visits',
      name: 'visits',
      read: () => String(visits),
      subscribe: (onUpdate) => {
        const timer = setInterval(() => {
          visits++;
          onUpdate();
        }, 1000);
        return () => clearInterval(timer);
      },
    },
  ],
  resourceTemplates: [
    {
      uriTemplate: 'library://books/{isbn}',
      name: 'book',
      complete: { isbn: (value) => ['9780262510875', '9780131103627'].filter((it) => it.startsWith(value)) },
      read: ({ isbn }) => `The book ${isbn}`,
    },
  ],
});
// #endregion

await using reader = createHost({ mcpServers: { library } });
await reader.ready();
const book = await reader.readResource('library', 'library://books/9780262510875');
assert.deepEqual(book.contents, [{ uri: 'library://books/9780262510875', text: 'The book 9780262510875' }]);
