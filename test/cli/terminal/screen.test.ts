import { expect, test } from 'vitest';
import { line } from '../../../src/cli/terminal/render.ts';
import { Screen } from '../../../src/cli/terminal/screen.ts';
import { FakeTerminal } from '../support/fake-terminal.ts';

const CLEAR = '\r\u001b[2K';

function screenOf(options = {}) {
  const terminal = new FakeTerminal(options);
  return { terminal, screen: new Screen(terminal) };
}

test('starts a line on its own row and continues a flow', () => {
  const { terminal, screen } = screenOf();
  screen.print([{ kind: 'flow', text: 'a' }, { kind: 'flow', text: 'b' }, line('c'), line('d')]);
  screen.print([
    { kind: 'break' },
    { kind: 'flow', text: 'e' },
    { kind: 'break' },
    { kind: 'flow', text: 'f' },
  ]);
  screen.freshLine();
  expect(terminal.printed).toBe('ab\nc\nd\ne\nf\n');
});

test('removes the status line before other output and truncates it to one row', () => {
  const { terminal, screen } = screenOf({ columns: 10 });
  screen.status('thinking for long');
  screen.status('thinking\non');
  screen.print([line('c')]);
  expect(terminal.printed).toBe(`${CLEAR}thinking…${CLEAR}thinking…${CLEAR}c\n`);
});

test('shows no status line within a text or without a terminal', () => {
  const { terminal, screen } = screenOf();
  screen.print([{ kind: 'flow', text: 'a' }]);
  screen.status('thinking');
  expect(terminal.printed).toBe('a');
  const piped = screenOf({ isInteractive: false });
  piped.screen.status('thinking');
  expect(piped.terminal.printed).toBe('');
});
