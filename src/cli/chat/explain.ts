import type { Call, CallLog } from './call-log.ts';
import { line, type Piece } from './piece.ts';

/** `/explain <tool|last>`: why calls ran or did not, as far as anybody said. A tool may be named by its last part. */
export function explain({ calls }: CallLog, what: string): Piece[] {
  const found =
    what === '' || what === 'last'
      ? calls.slice(-1)
      : calls.filter(({ name }) => name === what || name.endsWith(`__${what}`)).slice(-5);
  if (found.length === 0) {
    const which = what === '' || what === 'last' ? 'No tool was called yet' : `${what} was not called yet`;
    return [line(`${which}.`)];
  }
  return found.flatMap(explainCall);
}

function explainCall(call: Call): Piece[] {
  return [
    line([call.name, 'strong'], `: ${OUTCOMES[call.outcome]}`),
    ...(call.asked
      ? [line(`  asked: ${call.asked.reason ?? 'the agent gave no reason; no rule allowed or denied it'}`)]
      : []),
    line(`  ${verdictText(call)}`),
  ];
}

const OUTCOMES: Readonly<Record<Call['outcome'], string>> = {
  running: 'it is running',
  ok: 'it ran',
  failed: 'it failed',
  denied: 'it was denied',
};

function verdictText({ verdict, asked }: Call): string {
  if (!verdict) {
    return asked
      ? 'the question is open'
      : 'nobody was asked: a rule, the permission mode or a trusted claim allowed it, the agent did not say which';
  }
  const { behavior, by, how, reason } = verdict;
  const did = behavior === 'allow' ? 'allowed' : 'denied';
  const who = by === 'you' ? ` by you${how ? `, ${how}` : ''}` : by === 'agent' ? ' by the agent' : '';
  return `${did}${who}${reason ? `: ${reason}` : ''}`;
}
