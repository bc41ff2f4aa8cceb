import { setImmediate } from 'node:timers/promises';
import type { CanUseTool, OnElicitation } from '../../sdk/options/options.ts';
import { line, type Piece } from '../terminal/render.ts';
import { askElicitation } from './elicitation.ts';
import { askPermission } from './permission.ts';
import type { Questions } from './questions.ts';
import type { ViewEvent } from './show.ts';
import type { Unattended } from './unattended.ts';

type PersonDeps = {
  readonly questions: Questions;
  /** Answers if there is no terminal. */
  readonly unattended: Pick<Unattended, 'canUseTool' | 'onElicitation'> | undefined;
  now(): number;
  /** Annotations of the tool. */
  claims(tool: string): readonly string[];
  onEvent(event: ViewEvent): void;
  print(pieces: readonly Piece[]): void;
};

const WITHDRAWN = 'The question was withdrawn.';

/** Asks the user at the terminal for permissions and elicitation; without a terminal every request is denied. */
export class Person {
  readonly #deps: PersonDeps;
  /** Servers whose requests are declined until the chat ends. */
  readonly #muted = new Set<string>();

  constructor(deps: PersonDeps) {
    this.#deps = deps;
  }

  readonly canUseTool: CanUseTool = async (tool, input, { signal, ...context }) => {
    const { questions, unattended: away, now, claims, onEvent: happened } = this.#deps;
    // Text of the model before this call is printed first.
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
    const { questions, unattended: away, print } = this.#deps;
    const { serverName } = request;
    if (away) return away.onElicitation(request, context);
    if (this.#muted.has(serverName)) return { action: 'decline' };
    const answer = await questions.hold(async (asking) => {
      if (this.#muted.has(serverName)) return { action: 'decline' } as const;
      const end = await askElicitation(request, asking);
      if (end !== 'mute') return end;
      this.#muted.add(serverName);
      print([line([`Server ${serverName} is muted: its requests are declined in this session.`, 'dim'])]);
      return { action: 'decline' } as const;
    }, context.signal);
    return answer ?? { action: 'cancel' };
  };
}
