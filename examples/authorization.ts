// A host that signs in to a server which requires access tokens. The person who signs in is scripted.
import assert from 'node:assert/strict';
import { toolServer } from 'toolplane';
import { startAuthorizationServer } from '../test/support/auth/authorization-server.ts';
import { signInWithoutBrowser } from '../test/support/auth/protected-server.ts';

await using login = await startAuthorizationServer();
await using notes = await toolServer('notes')
  .tool('whoami', 'Returns the caller', {}, (_, { auth }) => `You are ${auth?.subject}.`)
  .listen({ auth: { issuer: login.issuer, scopes: ['mcp:read'] } });

const { url } = notes;
const openBrowser = async (page: URL) => void (await fetch(await signInWithoutBrowser(page)));

// #region sign-in
import { AuthError, createHost } from 'toolplane/host';

await using host = createHost({
  mcpServers: { notes: { type: 'http', url } },
  auth: {
    store: 'memory', // by default, the encrypted file that toolplane mcp login uses too
    async onAuthorize(page, { server }) {
      console.log(`Sign in to ${server} in the browser.`);
      await openBrowser(page); // the host waits for the redirect to a port of this machine
      return undefined;
    },
  },
});
const { content } = await host.callTool('notes', 'whoami');
console.log(content);
// #endregion

assert.deepEqual(content, [{ type: 'text', text: 'You are alice.' }]);

// #region failure
await using careful = createHost({
  mcpServers: { notes: { type: 'http', url } },
  auth: {
    store: 'memory',
    onAuthorize(_, { server }) {
      throw new AuthError('denied', server, 'this program has no user who can sign in');
    },
  },
});
await careful.ready({ servers: ['notes'] }).catch(() => {});
const { state, cause } = careful.status().notes ?? {};
console.log(state, cause?.authCode, cause?.detail);
// #endregion

assert.equal(cause?.authCode, 'denied');
