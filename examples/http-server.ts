// A tool server over HTTP, and a client that calls it.
import assert from 'node:assert/strict';
// #region listen
import { toolServer } from 'toolplane';
import { createHost } from 'toolplane/host';
import { z } from 'zod';

const shop = toolServer('shop').tool(
  'price',
  'What an item costs',
  { item: z.string() },
  ({ item }) => `${item}: 30 crowns`,
);
await using http = await shop.listen({ port: 0 }); // http.url is http://127.0.0.1:…/mcp

await using host = createHost({ mcpServers: { shop: { type: 'http', url: http.url } } });
const { content } = await host.callTool('shop', 'price', { item: 'tea' });
console.log(content);
// #endregion

assert.deepEqual(content, [{ type: 'text', text: 'tea: 30 crowns' }]);

// #region auth
await using protectedShop = await shop.listen({
  auth: {
    issuer: 'https://login.example.com',
    audience: 'https://tools.example.com/mcp',
    scopes: ['shop'],
    toolScopes: { price: ['shop:prices'] },
  },
});
// #endregion

const { status, headers } = await fetch(protectedShop.url, { method: 'POST' });
assert.equal(status, 401);
assert.match(headers.get('www-authenticate') ?? '', /scope="shop"/);
