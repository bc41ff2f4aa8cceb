import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HeadTail } from '../../../../src/agent/builtins/shell/run-shell.ts';

test('however a text is cut into pieces, its ends are kept and the rest is counted', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 30 })), (pieces) => {
      const kept = new HeadTail(20);
      for (const piece of pieces) kept.push(piece);
      const text = pieces.join('');
      const note = `\n\n[${text.length - 20} characters omitted]\n\n`;
      const cut = text.slice(0, 10) + note + text.slice(-10);
      expect(String(kept)).toBe(text.length <= 20 ? text : cut.toWellFormed());
    }),
  );
});
