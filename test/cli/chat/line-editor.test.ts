import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { LineEditor } from '../../../src/cli/chat/line-editor.ts';
import { CTRL_C, CTRL_D, FakeTerminal, paste, UP } from './fake-terminal.ts';

function edit(options: ConstructorParameters<typeof FakeTerminal>[0] = {}) {
  const terminal = new FakeTerminal(options);
  const strays: string[] = [];
  const editor = new LineEditor(terminal, (key) => strays.push(key));
  onTestFinished(() => editor[Symbol.dispose]());
  return { terminal, editor, strays };
}
const text = (it: string) => ({ kind: 'text', text: it });

test('a line is what was typed before Enter', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type('hellp\u007fo\r');
  expect(await read).toEqual(text('hello'));
  expect(terminal.printed).toContain('› ');
});

test('arrow keys bring earlier messages back, but no answers', async () => {
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

test('a backslash at the end continues the line', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type('one\\\r');
  await terminal.until('… ');
  terminal.type('two\r');
  expect(await read).toEqual(text('one\ntwo'));
});

test('what is pasted is sent by Enter only, and as one message', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type(paste('one\rtwo\\\rthree'));
  await terminal.until('three');
  terminal.type('!\r');
  expect(await read).toEqual(text('one\ntwo\\\nthree!'));
  expect(await sentOnTop(terminal, editor)).toEqual(text('next'));
});

test('lines that come in one burst are one message, also if the terminal marks no pastes', async () => {
  const { terminal, editor } = edit();
  const whole = editor.read('› ', 'message');
  terminal.type('one\ntwo\n');
  expect(await whole).toEqual(text('one\ntwo'));
  const rest = editor.read('› ', 'message');
  terminal.type('one\ntwo');
  await terminal.until('… two');
  terminal.type('\r');
  expect(await rest).toEqual(text('one\ntwo'));
});

test('Ctrl-C takes one thing: the draft, then the read, and without a read whatever runs', async () => {
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
  expect(strays).toEqual(['interrupted']);
});

test('Ctrl-C at a question ends it, whatever was typed', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('allow? ', 'answer');
  terminal.type(`y${CTRL_C}`);
  expect(await read).toEqual({ kind: 'interrupted' });
});

test('Ctrl-D ends every read, now and later', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type(CTRL_D);
  expect(await read).toEqual({ kind: 'ended' });
  expect(await editor.read('› ', 'message')).toEqual({ kind: 'ended' });
});

test('what is typed while nobody reads is no answer to a question that comes later', async () => {
  const { terminal, editor } = edit();
  terminal.type('y\ry');
  const answer = editor.read('allow? ', 'answer');
  terminal.type('n\r');
  expect(await answer).toEqual(text('n'));
  const draft = editor.read('› ', 'message');
  terminal.type('es\r');
  expect(await draft).toEqual(text('y\nyes'));
});

test('a whole line typed while nobody reads is the next message, and no answer either', async () => {
  const { terminal, editor } = edit();
  terminal.type('y\r');
  await setImmediate();
  const answer = editor.read('allow? ', 'answer');
  terminal.type('n\r');
  expect(await answer).toEqual(text('n'));
  expect(await editor.read('› ', 'message')).toEqual(text('y'));
});

test('keys are echoed only while somebody reads', async () => {
  const { terminal, editor } = edit();
  terminal.type('hidden');
  expect(terminal.printed).not.toContain('hidden');
  const read = editor.read('› ', 'message');
  await terminal.until('› hidden');
  terminal.type('\r');
  expect(await read).toEqual(text('hidden'));
});

test('a question that comes while a message is typed gives the draft back', async () => {
  const { terminal, editor } = edit();
  const message = editor.read('› ', 'message');
  terminal.type('half a');
  await terminal.until('half a');
  const answer = editor.read('allow? ', 'answer');
  terminal.type('y\r');
  expect(await answer).toEqual(text('y'));
  await terminal.until('› half a');
  terminal.type(' thought\r');
  expect(await message).toEqual(text('half a thought'));
});

test('a question that is withdrawn ends by itself', async () => {
  const { terminal, editor } = edit();
  const withdrawn = new AbortController();
  const answer = editor.read('allow? ', 'answer', withdrawn.signal);
  terminal.type('y');
  withdrawn.abort();
  expect(await answer).toEqual({ kind: 'withdrawn' });
  expect(await editor.read('allow? ', 'answer', withdrawn.signal)).toEqual({ kind: 'withdrawn' });
  expect(await sentOnTop(terminal, editor)).toEqual(text('next'));
});

test('a prompt of a server is neutralised', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('\u001b[2Jname: ', 'answer');
  await terminal.until('␛[2Jname: ');
  terminal.type('\r');
  await read;
});

test('what is printed meanwhile stands above what is typed', async () => {
  const { terminal, editor } = edit();
  const read = editor.read('› ', 'message');
  terminal.type('half');
  await terminal.until('half');
  editor.above(() => terminal.output.write('news\n'));
  expect(await terminal.until('› half')).toMatch(/news\n.*› half$/s);
  terminal.type('\r');
  expect(await read).toEqual(text('half'));
});

test('through a pipe every line is a message, in order, then comes the end', async () => {
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
