import { setImmediate } from 'node:timers/promises';
import type { CanUseTool, OnElicitation } from '../../sdk/callbacks.ts';
import { askElicitation } from './elicitation.ts';
import { askPermission } from './permission.ts';
import type { Questions } from './questions.ts';
import type { ViewEvent } from './show.ts';

type PersonWorld = {
  readonly questions: Questions;
  readonly presence: 'here' | 'away';
  now(): number;
  /** What a server claims about the tool. */
  claims(tool: string): readonly string[];
  happened(event: ViewEvent): void;
};

const NOBODY = 'Permission is needed and nobody is there to give it.';
const WITHDRAWN = 'The question was withdrawn.';

/** The person at the terminal as an agent asks them; one who is away says no. */
export class Person {
  readonly #world: PersonWorld;

  constructor(world: PersonWorld) {
    this.#world = world;
  }

  readonly canUseTool: CanUseTool = async (tool, input, { signal, ...context }) => {
    const { questions, presence, now, claims, happened } = this.#world;
    // What the model said before it wanted this comes first.
    await setImmediate();
    const { toolUseID: id, decisionReason: reason, mcpServer } = context;
    const about = { ...(reason !== undefined && { reason }), ...(mcpServer && { server: mcpServer.name }) };
    happened({ kind: 'asked', id, ...about });
    if (presence === 'away') {
      happened({
        kind: 'decided',
        id,
        verdict: { behavior: 'deny', by: 'nobody', reason: NOBODY },
        at: now(),
      });
      return { behavior: 'deny', message: NOBODY };
    }
    const request = { tool, input, context, claims: claims(tool) };
    const answer = await questions.hold((asking) => askPermission(request, asking), signal);
    if (!answer) return { behavior: 'deny', message: WITHDRAWN };
    happened({ kind: 'decided', id, verdict: answer.verdict, at: now() });
    return answer.result;
  };

  readonly onElicitation: OnElicitation = async (request, { signal }) => {
    if (this.#world.presence === 'away') return { action: 'decline' };
    const answer = await this.#world.questions.hold((asking) => askElicitation(request, asking), signal);
    return answer ?? { action: 'cancel' };
  };
}
