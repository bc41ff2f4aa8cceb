import { expect, test } from 'vitest';
import { openDialogue } from '../../../src/cli/terminal/dialogue.ts';
import { line } from '../../../src/cli/terminal/render.ts';
import { FakeTerminal } from '../support/fake-terminal.ts';

test('a question is shown while it is open, and then stays with its answer', async () => {
  const terminal = new FakeTerminal();
  const { editor, screen, ...dialogue } = openDialogue(terminal, () => {});
  screen.print([line('A question:')]);
  const answer = editor.read('sure? ', 'answer');
  await terminal.shows('sure?');
  terminal.type('yes\r');
  expect(await answer).toEqual({ kind: 'text', text: 'yes' });
  dialogue[Symbol.dispose]();
  expect(terminal.screen).toBe('A question:\nsure? yes');
});
