import { setImmediate } from 'node:timers/promises';
import type { CanUseTool, OnElicitation } from '../../sdk/callbacks.ts';
import type { Unasked } from '../unasked.ts';
import { askElicitation } from './elicitation.ts';
import { askPermission } from './permission.ts';
import type { Questions } from './questions.ts';
import type { ViewEvent } from './show.ts';

type PersonWorld = {
  readonly questions: Questions;
  /** Answers instead if nobody is at the terminal. */
  readonly away: Pick<Unasked, 'canUseTool' | 'onElicitation'> | undefined;
  now(): number;
  /** What a server claims about the tool. */
  claims(tool: string): readonly string[];
  happened(event: ViewEvent): void;
};

const WITHDRAWN = 'The question was withdrawn.';

/** The person at the terminal as an agent asks them; one who is away says no. */
export class Person {
  readonly #world: PersonWorld;

  constructor(world: PersonWorld) {
    this.#world = world;
  }

  readonly canUseTool: CanUseTool = async (tool, input, { signal, ...context }) => {
    const { questions, away, now, claims, happened } = this.#world;
    // What the model said before it wanted this comes first.
    await setImmediate();
    const { toolUseID: id, decisionReason: reason, mcpServer } = context;
    const about = { ...(reason !== undefined && { reason }), ...(mcpServer && { server: mcpServer.name }) };
    happened({ kind: 'asked', id, ...about });
    if (away) return away.canUseTool(tool, input, { signal, ...context });
    const request = { tool, input, context, claims: claims(tool) };
    const answer = await questions.hold((asking) => askPermission(request, asking), signal);
    if (!answer) return { behavior: 'deny', message: WITHDRAWN };
    happened({ kind: 'decided', id, verdict: answer.verdict, at: now() });
    return answer.result;
  };

  readonly onElicitation: OnElicitation = async (request, context) => {
    const { questions, away } = this.#world;
    if (away) return away.onElicitation(request, context);
    const answer = await questions.hold((asking) => askElicitation(request, asking), context.signal);
    return answer ?? { action: 'cancel' };
  };
}
