import type { ServerAnswer, ServerOffer } from '../mcp/connection/world.ts';
import type { HostAnswer, HostHandlers } from './host-options.ts';

/** What a host's user lets servers ask: what has no handler is neither declared nor answered. */
export function hostOffer(server: string, { elicitation, sampling, roots }: HostHandlers): ServerOffer {
  const answering =
    (answer: HostAnswer): ServerAnswer =>
    async (params, signal) =>
      answer(params, { server, signal });
  return {
    capabilities: {
      ...(elicitation && { elicitation: { form: { applyDefaults: true }, url: {} } }),
      ...(sampling && { sampling: {} }),
      ...(roots && { roots: {} }),
    },
    answers: {
      ...(elicitation && { 'elicitation/create': answering(elicitation) }),
      ...(sampling && { 'sampling/createMessage': answering(sampling) }),
      ...(roots && {
        'roots/list': async () => ({ roots: [...(typeof roots === 'function' ? await roots() : roots)] }),
      }),
    },
  };
}
