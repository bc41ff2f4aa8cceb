import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { inputFrame } from '../../../src/cli/terminal/editor/input-rows.ts';
import { LineEditor } from '../../../src/cli/terminal/line-editor.ts';
import { line } from '../../../src/cli/terminal/render.ts';
import { Screen } from '../../../src/cli/terminal/screen.ts';
import { CTRL_C, CTRL_D, FakeTerminal, paste, UP } from '../support/fake-terminal.ts';

function edit(options: ConstructorParameters<typeof FakeTerminal>[0] = {}) {
  const terminal = new FakeTerminal(options);
  const strays: string[] = [];
  const queued: string[] = [];
  const screen: Screen = new Screen(terminal, () => {
    const { view } = editor;
    return inputFrame(view, view.prompt ?? '» ', {
      columns: terminal.columns(),
      hasColors: false,
      maxRows: 10,
    });
  });
  const editor: LineEditor = new LineEditor(terminal, {
    stray: (key) => strays.push(key),
    queued: (it) => queued.push(it),
    changed: () => screen.refresh(),
    echoed: (prompt, typed, mark = '') => screen.print([line(`${prompt}${typed}${mark}`)]),
    complete: (before) =>
      before.endsWith('@') ? { from: before.length, items: [{ text: 'file.ts ' }] } : undefined,
  });
  onTestFinished(() => {
    screen[Symbol.dispose]();
    editor[Symbol.dispose]();
  });
  return { terminal, editor, strays, queued };
}
const text = (it: string) => ({ kind: 'text', text: it });

test('returns the line that was typed before Enter', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type('hellp\u007fo\r');
  expect(await read).toEqual(text('hello'));
  expect(terminal.printed).toContain('› ');
});

test('arrow keys recall earlier messages, but not answers', async () => {
  const { terminal, editor } = edit();
  for (const [kind, typed] of [
    ['message', 'first'],
    ['message', 'second'],
    ['answer', 'yes'],
  ] as const) {
    const read = editor.read('› ', kind);
    terminal.type(`${typed}\r`);
    await read;
  }
  const again = editor.read('› ', 'message');
  terminal.type(`${UP}${UP}\r`);
  expect(await again).toEqual(text('first'));
});

test.each([
  ['continued', 'one\\\rtwo\\\rthree\r'],
  ['pasted', `${paste('one\rtwo\rthree')}\r`],
  ['in one burst', 'one\ntwo\nthree\n'],
  ['with Alt-Enter', 'one\u001b\rtwo\u001b\rthree\r'],
])('a message of several lines, %s, is recalled whole and can be edited', async (_, typed) => {
  const { terminal, editor } = edit();
  for (const keys of ['before\r', typed]) {
    const read = editor.read('› ', 'message');
    terminal.type(keys);
    await read;
  }
  const again = editor.read('› ', 'message');
  terminal.type(`${UP}!\r`);
  expect(await again).toEqual(text('one\ntwo\nthree!'));
  const twice = editor.read('› ', 'message');
  terminal.type(`${UP}\r`);
  expect(await twice).toEqual(text('one\ntwo\nthree!'));
});

test('an answer equal to the last message does not remove it from the history', async () => {
  const { terminal, editor } = edit();
  for (const kind of ['message', 'answer'] as const) {
    const read = editor.read('› ', kind);
    terminal.type('yes\r');
    await read;
  }
  const again = editor.read('› ', 'message');
  terminal.type(`${UP}\r`);
  expect(await again).toEqual(text('yes'));
});

test('Esc ends a question, keeps a draft, and is reported while no read is pending', async () => {
  const { terminal, editor, strays } = edit();
  const answer = editor.read('name: ', 'answer');
  terminal.type('a\u001b');
  expect(await answer).toEqual({ kind: 'interrupted' });
  terminal.type('b\u001b');
  await expect.poll(() => strays).toEqual(['escaped']);
  const read = editor.read('› ', 'message');
  terminal.type('c\r');
  expect(await read).toEqual(text('bc'));
});

test('a question waits until the message being typed is sent or cleared', async () => {
  const { terminal, editor } = edit();
  const { signal } = new AbortController();
  let waits = 0;
  await editor.untilNotTyping(signal, () => waits++);
  const read = editor.read('› ', 'message');
  terminal.type('/qu');
  await terminal.shows('/qu');
  const quiet = editor.untilNotTyping(signal, () => waits++);
  expect(waits).toBe(1);
  terminal.type('it\r');
  await quiet;
  expect(await read).toEqual(text('/quit'));
});

test('a backslash at the end continues the line', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type('one\\\r');
  await terminal.shows(/› one$/);
  terminal.type('two\r');
  expect(await read).toEqual(text('one\ntwo'));
});

test('pasted text is sent by Enter only, as one message', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type(paste('one\rtwo\\\rthree'));
  await terminal.shows('three');
  terminal.type('!\r');
  expect(await read).toEqual(text('one\ntwo\\\nthree!'));
  expect(await sentOnTop(terminal, editor)).toEqual(text('next'));
});

test('lines that arrive in one burst are one message without bracketed paste', async () => {
  const { terminal, editor } = edit();
  const whole = editor.read('› ', 'message');
  terminal.type('one\ntwo\n');
  expect(await whole).toEqual(text('one\ntwo'));
  const rest = editor.read('› ', 'message');
  terminal.type('one\ntwo');
  await terminal.shows(/› one\n {2}two/);
  terminal.type('\r');
  expect(await rest).toEqual(text('one\ntwo'));
});

test('Ctrl-C clears the draft, then ends the read, and without a read is reported', async () => {
  const { terminal, editor, strays } = edit();
  const read = editor.read('› ', 'message');
  terminal.type(`draft${CTRL_C}`);
  await terminal.until('^C');
  terminal.type('sent\r');
  expect(await read).toEqual(text('sent'));
  const empty = editor.read('› ', 'message');
  terminal.type(CTRL_C);
  expect(await empty).toEqual({ kind: 'interrupted' });
  terminal.type(CTRL_C);
  await expect.poll(() => strays).toEqual(['interrupted']);
});

test('Ctrl-C ends a question regardless of typed text', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('allow? ', 'answer');
  terminal.type(`y${CTRL_C}`);
  expect(await read).toEqual({ kind: 'interrupted' });
});

test('Ctrl-D ends the pending read and all later ones', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type(CTRL_D);
  expect(await read).toEqual({ kind: 'ended' });
  expect(await editor.read('› ', 'message')).toEqual({ kind: 'ended' });
});

test('text typed before a question is not used as its answer', async () => {
  const { terminal, editor } = edit();
  terminal.type('y\ry');
  const answer = editor.read('allow? ', 'answer');
  terminal.type('n\r');
  expect(await answer).toEqual(text('n'));
  const draft = editor.read('› ', 'message');
  terminal.type('es\r');
  expect(await draft).toEqual(text('y\nyes'));
});

test('a line entered before a read becomes the next message, not an answer', async () => {
  const { terminal, editor } = edit();
  terminal.type('y\r');
  await setImmediate();
  const answer = editor.read('allow? ', 'answer');
  terminal.type('n\r');
  expect(await answer).toEqual(text('n'));
  expect(await editor.read('› ', 'message')).toEqual(text('y'));
});

test('text typed without a read is shown on its own line and at the next prompt', async () => {
  const { terminal, editor, queued } = edit();
  terminal.type('early');
  await terminal.shows('» early');
  const read = editor.read('› ', 'message');
  await terminal.shows('› early');
  terminal.type('\r');
  expect(await read).toEqual(text('early'));
  expect(queued).toEqual([]);
});

test('a line entered without a read is queued and echoed when it is read', async () => {
  const { terminal, editor, queued } = edit();
  terminal.type('one\\\rtwo\r');
  await terminal.shows(/»$/);
  expect(queued).toEqual(['one\ntwo']);
  expect(await editor.read('› ', 'message')).toEqual(text('one\ntwo'));
  await terminal.shows('› one\ntwo\n');
});

test('dropped messages are not read', async () => {
  const { terminal, editor } = edit();
  terminal.type('one\r');
  await setImmediate();
  await setImmediate();
  expect(editor.dropQueued()).toEqual(['one']);
  const read = editor.read('› ', 'message');
  terminal.type('two\r');
  expect(await read).toEqual(text('two'));
});

test('a draft is restored after a question interrupts it', async () => {
  const { terminal, editor } = edit();
  const message = editor.read('› ', 'message');
  terminal.type('half a');
  await terminal.shows('half a');
  const answer = editor.read('allow? ', 'answer');
  // The question replaces the prompt on the screen.
  expect(await terminal.shows('allow?')).not.toContain('half a');
  terminal.type('y\r');
  expect(await answer).toEqual(text('y'));
  await terminal.shows('› half a');
  terminal.type(' thought\r');
  expect(await message).toEqual(text('half a thought'));
});

test('a withdrawn question ends its read', async () => {
  const { terminal, editor } = edit();
  const withdrawn = new AbortController();
  const answer = editor.read('allow? ', 'answer', withdrawn.signal);
  terminal.type('y');
  withdrawn.abort();
  expect(await answer).toEqual({ kind: 'withdrawn' });
  expect(await editor.read('allow? ', 'answer', withdrawn.signal)).toEqual({ kind: 'withdrawn' });
  expect(await sentOnTop(terminal, editor)).toEqual(text('next'));
});

test('prompts from servers are sanitized', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('\u001b[2Jname: ', 'answer');
  await terminal.until('␛[2Jname: ');
  terminal.type('\r');
  await read;
});

test('queued messages return to the input above what is being typed', async () => {
  const { terminal, editor } = edit();
  terminal.type('one\r');
  await terminal.shows(/»$/);
  terminal.type('two');
  await terminal.shows('» two');
  expect(editor.recallQueued()).toBe(1);
  const read = editor.read('› ', 'message');
  terminal.type('!\r');
  expect(await read).toEqual(text('one\ntwo!'));
});

test('Up at an empty line takes the last queued message', async () => {
  const { terminal, editor, queued } = edit();
  terminal.type('one\r');
  await terminal.shows(/»$/);
  terminal.type(UP);
  await terminal.shows('» one');
  expect(editor.view.queued).toEqual([]);
  expect(queued).toEqual(['one']);
});

test('the user chooses from a list with the arrow keys, or cancels', async () => {
  const { terminal, editor } = edit();
  const choices = ['red', 'green', 'blue'].map((label) => ({ label }));
  const chosen = editor.choose('Color', choices);
  await terminal.shows(/Color\n› red\n {2}green\n {2}blue\n {2}1 of 3/);
  terminal.type('\u001b[B\u001b[B\r');
  expect(await chosen).toEqual(text('2'));
  const cancelled = editor.choose('Color', choices);
  terminal.type('\u001b');
  expect(await cancelled).toEqual({ kind: 'interrupted' });
});

test('a plain terminal chooses by number', async () => {
  const { terminal, editor } = edit({ isPlain: true });
  const choices = ['red', 'green'].map((label) => ({ label }));
  const chosen = editor.choose('number: ', choices);
  terminal.type('2\n');
  expect(await chosen).toEqual(text('1'));
  const unknown = editor.choose('number: ', choices);
  terminal.type('9\n');
  expect(await unknown).toEqual({ kind: 'interrupted' });
});

test('completions are shown as a list, and Tab inserts one', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type('see @');
  await terminal.shows(/› see @\n› file\.ts/);
  terminal.type('\t');
  await terminal.shows(/› see @file\.ts/);
  terminal.type('now\r');
  expect(await read).toEqual(text('see @file.ts now'));
});

test('the history of earlier chats is recalled and searched', async () => {
  const { terminal, editor } = edit();
  editor.history = ['newest', 'deploy the docs', 'deploy all'];
  const read = editor.read('› ', 'message');
  terminal.type('\u0012deploy');
  await terminal.shows(/search earlier messages: deploy\n {2}deploy the docs/);
  terminal.type('\u0012');
  await terminal.shows(/search earlier messages: deploy\n {2}deploy all/);
  terminal.type('\t');
  await terminal.shows('› deploy all');
  terminal.type(' now\r');
  expect(await read).toEqual(text('deploy all now'));
});

test('from a pipe, each line is a message in order, followed by the end', async () => {
  const { terminal, editor } = edit({ isInteractive: false });
  terminal.input.end('one\ntwo\\\n');
  expect(await editor.read('› ', 'message')).toEqual(text('one'));
  expect(await editor.read('› ', 'message')).toEqual(text('two\\'));
  expect(await editor.read('› ', 'message')).toEqual({ kind: 'ended' });
  expect(terminal.printed).toBe('');
});

async function sentOnTop(terminal: FakeTerminal, editor: LineEditor) {
  const read = editor.read('› ', 'message');
  terminal.type('next\r');
  return read;
}
