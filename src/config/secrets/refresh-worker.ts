// The process of `account-store.ts` that renews the tokens of one account. It goes on if the process that started it ends.
import { text } from 'node:stream/consumers';
import { ServerAuth } from '../../mcp/auth/authorizer.ts';
import { toAuthError } from '../../mcp/auth/token-grants.ts';
import { sealedCredentialStore, type WorkerInput, type WorkerReport } from './account-store.ts';

/**
 * Time limit of this process, so that it never stays behind. It is longer than the wait for another renewal and all
 * attempts of this one, which have time limits: an exit between a response and the write would lose the account.
 */
const TIME_LIMIT_MS = 5 * 60_000;

setTimeout(() => process.exit(1), TIME_LIMIT_MS).unref();
// The process that reads the report may have ended.
process.stdout.on('error', () => {});
process.stdout.write(JSON.stringify(await renew(await text(process.stdin))));

async function renew(input: string): Promise<WorkerReport> {
  const { context, renewal }: WorkerInput = JSON.parse(input);
  // This process renews the tokens itself.
  const { renewDetached: _, ...store } = sealedCredentialStore(context);
  try {
    await new ServerAuth({ store, env: context.env }).renew(renewal);
    return {};
  } catch (failure) {
    const { authCode: code, detail } = toAuthError(renewal.server, failure);
    return { code, detail };
  }
}
