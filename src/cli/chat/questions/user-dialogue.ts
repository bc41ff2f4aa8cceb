import { setImmediate } from 'node:timers/promises';
import type { CanUseTool, OnElicitation } from '../../../sdk/options/options.ts';
import { line, type Piece } from '../../terminal/render.ts';
import { openInBrowser } from '../mcp-command.ts';
import type { ViewEvent } from '../show.ts';
import { userDialogue } from './ask-user.ts';
import { elicitationAsker } from './elicitation.ts';
import { askPermission } from './permission.ts';
import type { Questions } from './questions.ts';
import type { Unattended } from './unattended.ts';

type UserDialogueDeps = {
  readonly questions: Questions;
  /** Answers if there is no terminal. */
  readonly unattended: Pick<Unattended, 'canUseTool' | 'onElicitation'> | undefined;
  now(): number;
  /** Annotations of the tool. */
  annotationsOf(tool: string): readonly string[];
  onEvent(event: ViewEvent): void;
  print(pieces: readonly Piece[]): void;
  /** A question is about to be asked. */
  attend(text: string): void;
};

const WITHDRAWN = 'The permission request was withdrawn.';

/** Asks the user at the terminal for permissions and elicitation; without a terminal every request is denied. */
export class UserDialogue {
  readonly #deps: UserDialogueDeps;
  readonly #askElicitation: ReturnType<typeof elicitationAsker>;

  constructor(deps: UserDialogueDeps) {
    this.#deps = deps;
    this.#askElicitation = elicitationAsker(deps.questions, {
      open: openInBrowser,
      onMuted: (server) =>
        deps.print([line([`Server ${server} is muted: its requests are declined in this session.`, 'dim'])]),
    });
  }

  readonly canUseTool: CanUseTool = async (tool, input, { signal, ...context }) => {
    const { questions, unattended, now, annotationsOf, onEvent, attend } = this.#deps;
    // Text of the model before this call is printed first.
    await setImmediate();
    const { toolUseID: id, decisionReason: reason, mcpServer } = context;
    const about = { ...(reason !== undefined && { reason }), ...(mcpServer && { server: mcpServer.name }) };
    onEvent({ kind: 'asked', id, ...about });
    if (unattended) return unattended.canUseTool(tool, input, { signal, ...context });
    attend('Approval required');
    const request = { tool, input, context, annotations: annotationsOf(tool) };
    const dialogue = userDialogue(request) ?? ((asking) => askPermission(request, asking));
    const answer = await questions.hold(dialogue, signal);
    if (!answer) return { behavior: 'deny', message: WITHDRAWN };
    onEvent({ kind: 'decided', id, verdict: answer.verdict, at: now() });
    return answer.result;
  };

  readonly onElicitation: OnElicitation = async (request, context) => {
    const { unattended, attend } = this.#deps;
    if (unattended) return unattended.onElicitation(request, context);
    attend('Input requested');
    return this.#askElicitation(request, context.signal);
  };
}
