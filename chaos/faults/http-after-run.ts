import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, Faults } from '../fault.ts';
import { answers, check, rejects, textOf } from '../judge.ts';
import { bent, worksAgain } from './bent.ts';

/** Prints different headers each time. */
const HELPER = `echo '{"x-made-at":"'$(date +%s%N)'"}'`;

/** HTTP servers whose tool ran although the response suggests otherwise. */
export const httpAfterRun: Faults = {
  'status-400-after-run': afterRun(400, 'the date in "when" is in the past'),
  'status-404-after-run': afterRun(404, 'no such order'),
  'status-503-after-run': afterRun(503, 'upstream connect error or disconnect/reset before headers'),
  'helper-403': afterRun(403, 'that account is not yours', { headersHelper: HELPER }),
};

const CALLS = 3;

/** Several calls, since a reconnect could hide a call that closed the connection. */
function afterRun(status: number, words: string, more: { headersHelper?: string } = {}): Fault {
  return {
    holds: `a call that ran and got ${status} rejects and is not repeated; other calls and the connection are unaffected`,
    async play(stage) {
      const { server, session, calls } = await bent(
        stage,
        (response) => void response.writeHead(status, { 'content-type': 'text/plain' }).end(words),
        more,
      );
      server.tools.set('slow', () => sleep(1_500, 'slow but sure'));
      const greeted = server.asked('initialize').length;
      const neighbour = session.call('a', 'slow', {}, { timeoutMs: 8_000 });
      neighbour.catch(() => {});
      let reason = '';
      for (let call = 1; call <= CALLS; call++) {
        const pay = session.call('a', 'bent', {}, { timeoutMs: 10_000 });
        reason = await rejects(4_000, `call ${call}`, pay);
        check(calls() === call, `${call} calls ran ${calls()} times`);
        // A server that fails three times in a row may be reconnected.
        if (status >= 500) await worksAgain(session, 2_000);
      }
      const said = textOf(await answers(4_000, 'the call beside it', neighbour));
      check(said === 'slow but sure', `the call beside it got "${said}"`);
      await sleep(stage.isQuick ? 500 : 2_000);
      check(calls() === CALLS, `${CALLS} calls ran ${calls()} times in the end`);
      await worksAgain(session, 2_000);
      const greetings = server.asked('initialize').length - greeted;
      check(greetings === 0, `it was connected to ${greetings} times more`);
      return reason;
    },
  };
}
