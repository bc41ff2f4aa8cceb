import { expect, test } from 'vitest';
import { formatProgress, frame, Spinner } from '../../../src/cli/terminal/spinner.ts';
import { FakeTerminal } from '../support/fake-terminal.ts';

test('shows the text, animates, and clears the line at the end', () => {
  const terminal = new FakeTerminal();
  using spinner = new Spinner(terminal);
  let text = 'connecting 0 of 2: a, b';
  spinner.show(() => text);
  terminal.pass(400);
  text = 'connecting 1 of 2: b';
  terminal.pass(80);
  spinner.stop();
  terminal.pass(1000);
  expect(terminal.printed).toBe(
    '\r\u001b[2K⠋ connecting 0 of 2: a, b\r\u001b[2K⠙ connecting 1 of 2: b\r\u001b[2K',
  );
});

test('short work shows no spinner', () => {
  const terminal = new FakeTerminal();
  const spinner = new Spinner(terminal);
  spinner.show(() => 'connecting');
  terminal.pass(100);
  terminal.pass(199);
  spinner.stop();
  expect(terminal.printed).toBe('');
});

test('the delay applies to each show() separately', () => {
  const terminal = new FakeTerminal();
  using spinner = new Spinner(terminal);
  spinner.show(() => 'connecting');
  terminal.pass(299);
  spinner.stop();
  spinner.show(() => 'calling');
  terminal.pass(299);
  expect(terminal.printed).toBe('');
  terminal.pass(1);
  expect(terminal.printed).toContain('calling');
});

test('a pause clears the line and shows it again afterwards, unless the spinner was stopped meanwhile', () => {
  const terminal = new FakeTerminal();
  using spinner = new Spinner(terminal);
  spinner.show(() => 'calling');
  terminal.pass(400);
  const cleared = '\r\u001b[2K⠋ calling\r\u001b[2K';
  {
    using _pause = spinner.pause();
    terminal.pass(1000);
    expect(terminal.printed).toBe(cleared);
  }
  terminal.pass(400);
  expect(terminal.printed).toBe(`${cleared}\r\u001b[2K⠙ calling`);
  {
    using _pause = spinner.pause();
    spinner.stop();
  }
  terminal.pass(1000);
  expect(terminal.printed).toBe(`${cleared}\r\u001b[2K⠙ calling\r\u001b[2K`);
});

test('writes nothing without a terminal', () => {
  const terminal = new FakeTerminal({ isInteractive: false });
  using spinner = new Spinner(terminal);
  spinner.show(() => 'connecting');
  terminal.pass(1000);
  spinner.stop();
  expect(terminal.printed).toBe('');
});

test.each([
  [0, 'waiting', 80, '⠋ waiting'],
  [11, 'waiting', 80, '⠙ waiting'],
  [0, 'a long text', 10, '⠋ a long…'],
  [0, '日本語の名前', 10, '⠋ 日本語…'],
  [0, 'a\u001b[2Jb\nc', 80, '⠋ a␛[2Jb c'],
])('frame %i of %j in %i columns', (tick, text, columns, line) => {
  expect(frame(tick, text, columns)).toBe(line);
});

test.each([
  [{ settled: 3, total: 6, waitingFor: ['github', 'slack'] }, 'connecting 3 of 6: github, slack'],
  [{ settled: 1, total: 1, waitingFor: [] }, 'connecting 1 of 1'],
])('%j', (progress, text) => {
  expect(formatProgress(progress)).toBe(text);
});
