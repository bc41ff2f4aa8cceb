import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { isRecord } from '../../base/is-record.ts';
import { INTERNAL, INVALID_PARAMS, RpcFault } from '../../protocol/json-rpc.ts';
import { messageOf } from '../../protocol/sdk-error.ts';
import { withDefaults } from './elicited-defaults.ts';
import { sayValue } from './tidy-message.ts';

/** Declares what is answered and nothing else, lets nothing of an answer's failure out but its words, and bounds how many are worked on at once. Made anew for each connection. */
export function readyOffer({ capabilities, answers }: ServerOffer): ServerOffer {
  const declared: ClientCapabilities = { ...capabilities };
  for (const [method, capability] of CAPABILITIES) {
    if (Object.hasOwn(answers, method)) declared[capability] ??= {};
    else delete declared[capability];
  }
  if (declared.elicitation) declared.elicitation = modesOf(declared.elicitation);
  const running = { count: 0 };
  const guarded = Object.entries(answers).map(([method, answer]) => {
    const careful = method === 'elicitation/create' ? elicitation(answer, declared) : answer;
    return [method, guard(careful, running)] as const;
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
      throw new RpcFault(
        INVALID_PARAMS,
        `elicitation of mode ${sayValue(mode).slice(0, 100)} is not offered here`,
      );
    }
    const given = await answer(params, signal);
    if (mode !== 'form' || given.action !== 'accept') return given;
    const content = isRecord(given.content) ? given.content : {};
    return { ...given, content: withDefaults(params.requestedSchema, content) };
  };
}

/** How many questions of one server are worked on at once. */
const MOST_AT_ONCE = 64;

function guard(answer: ServerAnswer, running: { count: number }): ServerAnswer {
  return async (params, signal) => {
    if (running.count >= MOST_AT_ONCE) {
      throw new RpcFault(INTERNAL, `only ${MOST_AT_ONCE} requests are answered at once; ask again later`);
    }
    running.count++;
    try {
      return await answer(params, signal);
    } catch (failure) {
      if (failure instanceof RpcFault) throw failure;
      throw new RpcFault(INTERNAL, messageOf(failure));
    } finally {
      running.count--;
    }
  };
}

/** What one server is offered: the capabilities it is told of, and an answer for each method they stand for. */
export type ServerOffer = {
  readonly capabilities: ClientCapabilities;
  readonly answers: Readonly<Record<string, ServerAnswer>>;
};

/** Answers one request of a server; what it throws becomes the request's error. */
export type ServerAnswer = (
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;
