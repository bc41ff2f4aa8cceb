import type { SDKMessage } from '../../protocol/agent-message.ts';
import { render } from '../chat/render.ts';
import { show, type ViewEvent } from '../chat/show.ts';
import { EMPTY_VIEW } from '../chat/view.ts';

/** Tells which tools run and how they end, in the chat's words; the model's own are for stdout. */
export class Activity {
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  #view = EMPTY_VIEW;

  constructor(write: (line: string) => void, now: () => number) {
    this.#write = write;
    this.#now = now;
  }

  received(message: SDKMessage): void {
    this.#happened({ kind: 'received', message, at: this.#now() });
  }

  denied(id: string, reason: string): void {
    const verdict = { behavior: 'deny', by: 'nobody', reason } as const;
    this.#happened({ kind: 'decided', id, verdict, at: this.#now() });
  }

  #happened(event: ViewEvent): void {
    const { view, pieces } = show(this.#view, event);
    this.#view = view;
    for (const piece of pieces) {
      if (piece.kind === 'line' && piece.overflow === 'cut') this.#write(render(piece, LOOK));
    }
  }
}

/** Logs are wide and have no colours. */
const LOOK = { columns: 200, colours: false };
