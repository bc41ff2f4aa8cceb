import type { Asking } from '../../../../src/cli/chat/questions/questions.ts';
import type { ReadEnd } from '../../../../src/cli/terminal/line-editor.ts';
import type { Piece } from '../../../../src/cli/terminal/render.ts';
import { text } from './text.ts';

/** A user who gives these answers in turn; `shown` is everything that was printed. */
export function answering(
  ...answers: (string | Exclude<ReadEnd['kind'], 'text'>)[]
): Asking & { readonly shown: string[] } {
  const shown: string[] = [];
  const left = [...answers];
  return {
    shown,
    print: (pieces: readonly Piece[]) => void shown.push(...text(pieces)),
    async ask(prompt, own = []) {
      shown.push(prompt);
      const answer = left.shift();
      if (answer === undefined) throw new Error(`no answer is prepared for ${prompt}`);
      if (answer === 'interrupted' || answer === 'ended' || answer === 'withdrawn') return { kind: answer };
      const name = answer.replace(/^\//, '');
      if (answer.startsWith('/') && own.includes(name)) return { kind: 'command', name };
      return { kind: 'text', text: answer };
    },
  };
}
