import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { isRecord } from '../../base/is-record.ts';
import { INTERNAL, INVALID_PARAMS, RpcFault } from '../../protocol/json-rpc.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { withDefaults } from './elicited-defaults.ts';
import type { ServerAnswer, ServerOffer } from './world.ts';

/** Declares what is answered and nothing else, and lets nothing of an answer's failure out but its words. */
export function readyOffer({ capabilities, answers }: ServerOffer): ServerOffer {
  const declared: ClientCapabilities = { ...capabilities };
  for (const [method, capability] of CAPABILITIES) {
    if (Object.hasOwn(answers, method)) declared[capability] ??= {};
    else delete declared[capability];
  }
  if (declared.elicitation) declared.elicitation = modesOf(declared.elicitation);
  const guarded = Object.entries(answers).map(([method, answer]) => {
    const careful = method === 'elicitation/create' ? elicitation(answer, declared) : answer;
    return [method, guard(careful)] as const;
  });
  return { capabilities: declared, answers: Object.fromEntries(guarded) };
}

const CAPABILITIES = [
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
] as const;

type Modes = NonNullable<ClientCapabilities['elicitation']>;

/** One that names no mode takes forms; whoever takes forms fills in their defaults. */
function modesOf(modes: Modes): Modes {
  if (modes.url && !modes.form) return modes;
  const form: Modes['form'] = { ...modes.form, applyDefaults: true };
  return { ...modes, form } as Modes;
}

function elicitation(answer: ServerAnswer, { elicitation: modes = {} }: ClientCapabilities): ServerAnswer {
  return async (params, signal) => {
    const mode = params.mode ?? 'form';
    if ((mode !== 'form' && mode !== 'url') || !modes[mode]) {
      throw new RpcFault(INVALID_PARAMS, `elicitation of mode ${JSON.stringify(mode)} is not offered here`);
    }
    const given = await answer(params, signal);
    if (mode !== 'form' || given.action !== 'accept') return given;
    const content = isRecord(given.content) ? given.content : {};
    return { ...given, content: withDefaults(params.requestedSchema, content) };
  };
}

function guard(answer: ServerAnswer): ServerAnswer {
  return async (params, signal) => {
    try {
      return await answer(params, signal);
    } catch (failure) {
      if (failure instanceof RpcFault) throw failure;
      throw new RpcFault(INTERNAL, messageOf(failure));
    }
  };
}
