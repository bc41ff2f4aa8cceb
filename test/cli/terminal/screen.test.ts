import { describe, expect, test } from 'vitest';
import { keptLine, line } from '../../../src/cli/terminal/render.ts';
import { type Frame, paintFrame, Screen } from '../../../src/cli/terminal/screen.ts';
import { FakeTerminal } from '../support/fake-terminal.ts';
import { VirtualScreen } from '../support/virtual-screen.ts';

const frame = (rows: readonly string[], row = 0, column = 0): Frame => ({ rows, cursor: { row, column } });

describe('linear output', () => {
  const linear = (options = {}) => {
    const terminal = new FakeTerminal({ isInteractive: false, ...options });
    return { terminal, screen: new Screen(terminal, () => frame(['live'])) };
  };

  test('starts a line on its own row and continues a flow', () => {
    const { terminal, screen } = linear();
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

  test('a plain terminal gets no escape sequences', () => {
    const { terminal, screen } = linear({ isInteractive: true, isPlain: true });
    screen.refresh();
    screen.redraw();
    screen.print([line(['text', 'strong'])]);
    screen.promptLinear('> ');
    screen[Symbol.dispose]();
    expect(terminal.printed).toBe('text\n> ');
  });
});

describe('frame', () => {
  test.each<[string, Frame, string[], Frame]>([
    ['appears', { rows: [] }, [], frame(['one', 'two'], 1, 3)],
    ['stays', frame(['one', 'two'], 1), [], frame(['one', 'two'], 1)],
    ['changes one row', frame(['one', 'two', 'three'], 1, 2), [], frame(['one', '2', 'three'], 1, 1)],
    ['moves the cursor', frame(['one', 'two'], 0, 1), [], frame(['one', 'two'], 1, 2)],
    ['grows', frame(['one'], 0, 3), [], frame(['one', 'two', 'three'], 2)],
    ['shrinks', frame(['one', 'two', 'three'], 2, 2), [], frame(['one'], 0, 3)],
    ['shrinks above unchanged rows', frame(['one', 'two', 'end'], 2), [], frame(['two', 'end'], 1)],
    ['moves down below output', frame(['one', 'two'], 1, 1), ['a', 'b'], frame(['one', 'two'], 0)],
    ['loses rows below output', frame(['one', 'two', 'three'], 1), ['a'], frame(['3'], 0, 1)],
    ['disappears', frame(['one', 'two'], 1), [], { rows: [] }],
  ])('%s', (_, before, printed, after) => {
    const screen = new VirtualScreen(20);
    screen.write(paintFrame({ rows: [] }, ['above'], before));
    screen.write(paintFrame(before, printed, after));
    expect(screen.text).toBe(['above', ...printed, ...after.rows].join('\n').trimEnd());
    if (after.cursor) {
      const top = 1 + printed.length;
      expect(screen.cursor).toEqual({ row: top + after.cursor.row, column: after.cursor.column });
    }
  });

  test('writes nothing if nothing changed, and only the rows that changed', () => {
    const before = frame(['one', 'two', 'three'], 2, 1);
    expect(paintFrame(before, [], before)).toBe('');
    const bytes = paintFrame(before, [], frame(['one', '2', 'three'], 2, 1));
    expect(bytes).toContain('2');
    expect(bytes).not.toMatch(/one|three/);
  });

  test('scrolls with a low terminal', () => {
    const screen = new VirtualScreen(20, 4);
    let drawn: Frame = { rows: [] };
    for (let number = 1; number <= 6; number += 1) {
      const next = frame(['rule', `input ${number}`], 1);
      screen.write(paintFrame(drawn, [`line ${number}`], next));
      drawn = next;
    }
    const lines = [1, 2, 3, 4, 5, 6].map((number) => `line ${number}`);
    expect(screen.text).toBe([...lines, 'rule', 'input 6'].join('\n'));
  });
});

describe('screen', () => {
  test('wraps output between words, keeps code, and draws the frame below it', () => {
    const terminal = new FakeTerminal({ columns: 20 });
    const screen = new Screen(terminal, () => frame(['› input']));
    screen.print([line('the quick brown fox jumps'), keptLine('  a long line of code that stays')]);
    expect(terminal.screen).toBe('the quick brown fox\njumps\n  a long line of cod\ne that stays\n› input');
  });

  test('each update is one write, marked as one', async () => {
    const terminal = new FakeTerminal();
    const screen = new Screen(terminal, () => frame(['› input']));
    screen.print([line('one'), line('two')]);
    screen.refresh();
    screen.refresh();
    screen.print([line('three')]);
    expect(terminal.printed.split('\u001b[?2026h')).toHaveLength(3);
    expect(terminal.printed.split('\u001b[?2026l')).toHaveLength(3);
  });

  test('after a change of the width, the frame replaces the wrapped one', async () => {
    const terminal = new FakeTerminal({ columns: 30 });
    const shown = () => frame(['─'.repeat(terminal.columns() - 1), '› text'], 1, 6);
    const screen = new Screen(terminal, shown);
    screen.print([line('above')]);
    const before = terminal.printed.length;
    terminal.resize(20);
    await new Promise(setImmediate);
    // The cursor was in the second row; in the narrower terminal the first one takes two.
    expect(terminal.printed.slice(before)).toContain('\u001b[2A');
    expect(terminal.printed.slice(before)).toContain(`${'─'.repeat(19)}\n`);
  });

  test('a redraw removes the frame before the terminal keeps the cleared rows', async () => {
    const terminal = new FakeTerminal();
    const screen = new Screen(terminal, () => frame(['rule', '› input'], 1));
    screen.print([line('text')]);
    const before = terminal.printed.length;
    screen.redraw();
    const [kept = ''] = terminal.printed.slice(before).split('\u001b[2J');
    expect(new VirtualScreen(80).write(terminal.printed.slice(0, before) + kept).text).toBe('text');
    expect(terminal.screen).toBe('rule\n› input');
  });

  test('its end removes the frame and leaves the output', () => {
    const terminal = new FakeTerminal();
    const screen = new Screen(terminal, () => frame(['rule', '› input'], 1));
    screen.print([line('text')]);
    screen[Symbol.dispose]();
    screen.print([line('after')]);
    expect(terminal.screen).toBe('text\nafter');
  });
});
