import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inputPieces } from '../../../../src/cli/chat/live/call-input.ts';
import { completeInput } from '../../../../src/cli/chat/live/completions.ts';
import { composeFrame, type LiveState, statusRows } from '../../../../src/cli/chat/live/frame.ts';
import { historyPath, PromptHistory } from '../../../../src/cli/chat/live/prompt-history.ts';
import { showResult } from '../../../../src/cli/chat/live/tool-result.ts';
import { EMPTY_VIEW, type View } from '../../../../src/cli/chat/view.ts';
import { EMPTY_PROMPT, withText } from '../../../../src/cli/terminal/editor/prompt-state.ts';
import { line } from '../../../../src/cli/terminal/render.ts';
import { directoryWith } from '../../../agent/builtins/built-in-world.ts';
import { text } from '../support/text.ts';

describe('frame', () => {
  const IDLE: LiveState = {
    view: { ...EMPTY_VIEW, init: { tools: [], model: 'opus', mode: 'default' } },
    tail: [],
    input: { prompt: '› ', kind: 'message', state: EMPTY_PROMPT, queued: [], choices: [], chosen: 0 },
    turnSince: undefined,
    isStopping: false,
    isStarting: false,
    now: 5_000,
  };
  const look = (columns: number, rows = 30) => ({ columns, rows, hasColors: false });
  const rule = (columns: number) => '─'.repeat(columns - 1);

  test('between turns: the input and the status line', () => {
    expect(composeFrame(IDLE, look(60))).toEqual({
      rows: [rule(60), '› ', '  opus · asks before changes · Shift-Tab mode · /help'],
      cursor: { row: 1, column: 2 },
    });
  });

  test('during a turn: the end of the text, the activity, queued messages and the input', () => {
    const input = {
      ...IDLE.input,
      prompt: undefined,
      queued: ['one', 'two\nlines'],
      state: withText(EMPTY_PROMPT, 'x'),
    };
    const state = { ...IDLE, input, turnSince: 1_000, tail: [line('the end of the text')] };
    expect(composeFrame(state, look(40))).toEqual({
      rows: [
        'the end of the text',
        'thinking 4.0 s · Esc interrupts',
        '  queued: one',
        '  queued: two lines',
        '  sent when the turn ends · ↑ edits th…',
        rule(40),
        '» x',
        '  opus · asks before changes · /help',
      ],
      cursor: { row: 6, column: 3 },
    });
  });

  test('a question takes the place of the activity and of the status line', () => {
    const input = { ...IDLE.input, prompt: 'allow? ', kind: 'answer' as const };
    expect(composeFrame({ ...IDLE, input, turnSince: 1_000 }, look(40)).rows).toEqual([rule(40), 'allow? ']);
  });

  test('a long text shows its end, and the frame is never higher than the terminal', () => {
    const tail = Array.from({ length: 50 }, (_, index) => line(`row ${index}`));
    const { rows } = composeFrame({ ...IDLE, tail, turnSince: 0 }, look(60, 12));
    expect(rows).toHaveLength(11);
    expect(rows.slice(0, 7)).toEqual([43, 44, 45, 46, 47, 48, 49].map((index) => `row ${index}`));
  });

  const BUSY: View = {
    ...EMPTY_VIEW,
    init: { tools: [], model: 'claude-opus', mode: 'acceptEdits' },
    context: 42,
    background: 2,
    totals: { ...EMPTY_VIEW.totals, usd: 0.1234 },
  };

  test.each([
    [
      120,
      '  claude-opus · edits allowed · context 42 % · $0.1234 · 2 in background · Shift-Tab mode · /help',
    ],
    [90, '  claude-opus · edits allowed · context 42 % · $0.1234 · 2 in background · /help'],
    [80, '  claude-opus · edits allowed · context 42 % · $0.1234 · 2 in background'],
    [60, '  claude-opus · edits allowed · context 42 %'],
    [24, '  edits allowed'],
  ])('the status line at %d columns is %j', (columns, row) => {
    expect(statusRows(BUSY, look(columns))).toEqual([row]);
  });
});

describe('tool results', () => {
  const shown = (content: string, output?: unknown) => {
    const { head, body, all } = showResult(content, output);
    return { rows: text([line(...head), ...body]), all: all && text(all) };
  };

  test('short output is shown whole', () => {
    expect(shown('one\ntwo\n\nthree')).toEqual({ rows: ['one', '    two', '    three'], all: undefined });
    expect(shown('\u001b[32mok\u001b[0m')).toEqual({ rows: ['ok'], all: undefined });
    expect(shown('')).toEqual({ rows: ['(no output)'], all: undefined });
  });

  test('of long output, the start is shown and all is kept', () => {
    const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`);
    const { rows, all } = shown(lines.join('\n'));
    expect(rows).toEqual([
      'line 0',
      '    line 1',
      '    line 2',
      '    … 9 more lines (Ctrl-O or /expand shows them)',
    ]);
    expect(all).toEqual(lines.map((it) => `    ${it}`));
  });

  test('of a very long row, the start is shown and all is kept, with its blank rows', () => {
    const { rows, all } = shown(`${'x'.repeat(1000)}\n\nend\n`);
    expect(rows).toEqual([`${'x'.repeat(240)}…`, '    end', '    … shortened (Ctrl-O or /expand shows it)']);
    expect(all).toEqual([`    ${'x'.repeat(1000)}`, '    ', '    end']);
  });

  test('an error is not shortened', () => {
    const { head, all } = showResult('x'.repeat(1000), undefined, '    ', true);
    expect({ head, all }).toEqual({ head: ['x'.repeat(1000)], all: undefined });
  });

  test('of a file that was read, the number of lines is shown', () => {
    const { rows, all } = shown('1 a\n2 b', { type: 'text', file: { filePath: 'x', numLines: 2 } });
    expect(rows).toEqual(['2 lines']);
    expect(all).toEqual(['    1 a', '    2 b']);
  });

  test('a change of a file is shown as a diff', () => {
    const hunk = { oldStart: 3, newStart: 3, oldLines: 2, newLines: 2, lines: [' a', '-b', '+c'] };
    const { rows } = shown('The file was updated', { filePath: 'src/a.ts', structuredPatch: [hunk] });
    expect(rows).toEqual(['src/a.ts +1 −1', '    3  a', '    4 -b', '    4 +c']);
  });

  test('a new file is shown with its content', () => {
    const { rows } = shown('ok', { type: 'create', filePath: 'a', content: 'x\ny\n', structuredPatch: [] });
    expect(rows).toEqual(['a +2 new file', '    1 +x', '    2 +y']);
  });
});

describe('input of a call', () => {
  const shown = async (tool: string, input: Readonly<Record<string, unknown>>) =>
    text(await inputPieces(tool, input));
  const edit = { old_string: 'four', new_string: '4' };

  test('an edit has the line numbers of the file, and lines around the change', async () => {
    const path = join(directoryWith({ 'a.txt': 'one\ntwo\nthree\nfour\nfive\nfour\n' }), 'a.txt');
    expect(await shown('Edit', { file_path: path, ...edit })).toEqual([
      `  ${path}`,
      '  1  one',
      '  2  two',
      '  3  three',
      '  4 -four',
      '  4 +4',
      '  5  five',
      '  6  four',
    ]);
    expect(await shown('Edit', { file_path: path, ...edit, replace_all: true })).toContain('  6 +4');
  });

  test('of a file that cannot be read or does not have the text, the changed part is shown', async () => {
    const path = join(directoryWith({ 'a.txt': 'one\n' }), 'a.txt');
    for (const file_path of [path, `${path}.missing`])
      expect(await shown('Edit', { file_path, ...edit })).toEqual([`  ${file_path}`, '  1 -four', '  1 +4']);
  });

  test('a file that is overwritten is shown as a diff, a new one with its content', async () => {
    const path = join(directoryWith({ 'a.txt': 'one\ntwo\n' }), 'a.txt');
    const content = 'one\n2\n';
    expect(await shown('Write', { file_path: path, content })).toEqual([
      `  ${path}`,
      '  1  one',
      '  2 -two',
      '  2 +2',
    ]);
    expect(await shown('Write', { file_path: `${path}.new`, content })).toEqual([
      `  ${path}.new`,
      '  1 +one',
      '  2 +2',
    ]);
  });
});

describe('completions', () => {
  const COMMANDS = [
    { name: 'model', description: 'the model', takesArgument: true },
    { name: 'mode', takesArgument: true },
    { name: 'quit', takesArgument: false },
  ];
  const FILES = [
    'src/deep/report.ts',
    'src/index.ts',
    'node_modules/x/report.js',
    'readme.md',
    '.hidden',
    'a b.txt',
  ];
  const complete = (before: string) =>
    completeInput(before, COMMANDS, directoryWith(Object.fromEntries(FILES.map((path) => [path, '']))));
  const texts = (before: string) => complete(before)?.items.map((it) => it.text);

  test.each<[string, string[] | undefined]>([
    ['/mo', ['/model ', '/mode ']],
    ['/od', ['/model ', '/mode ']],
    ['/', ['/model ', '/mode ', '/quit']],
    ['/quit', []],
    ['/model x', undefined],
    ['a /mo', undefined],
    ['@', ['node_modules/', 'readme.md ', 'src/']],
    ['see @src/', ['src/deep/', 'src/index.ts ']],
    ['@rep', ['src/deep/report.ts ']],
    ['@.h', ['.hidden ']],
    ['@nothing/here', []],
    ['me@example', undefined],
    ['text', undefined],
  ])('%j', (before, expected) => {
    expect(texts(before)).toEqual(expected);
  });

  test('a path replaces what was typed after @', () => {
    expect(complete('see @src/i')?.from).toBe(5);
  });
});

describe('history', () => {
  test('keeps messages across chats, those of this directory first, in a file of the user', () => {
    const path = historyPath(join(directoryWith(), 'home'));
    const one = new PromptHistory(path, '/one');
    const two = new PromptHistory(path, '/two');
    one.add('first');
    two.add('second\nline');
    one.add('third');
    one.add('first');
    one.add('  ');
    one.add('x'.repeat(30_000));
    expect(new PromptHistory(path, '/one').read()).toEqual(['first', 'third', 'second\nline']);
    expect(two.read()).toEqual(['second\nline', 'first', 'third']);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('stores no redirect of a sign-in, and nothing that looks like a credential', () => {
    const path = join(directoryWith(), 'history.jsonl');
    const history = new PromptHistory(path, '/p');
    history.add('/mcp login my docs http://127.0.0.1:8123/callback?code=planted-code&state=planted-state');
    history.add(' /MCP login docs\nhttps://localhost/callback?state=planted-state&code=planted-code x');
    history.add('why is https://docs.example/page wrong? sk-planted-key-1');
    history.add('/mcp login docs');
    expect(history.read()).toEqual([
      '/mcp login docs',
      'why is https://docs.example/page wrong? sk-[redacted]',
      ' /MCP login docs',
      '/mcp login my docs',
    ]);
    expect(readFileSync(path, 'utf8')).not.toContain('planted');
  });

  test('skips lines that are not entries', () => {
    const path = join(directoryWith(), 'history.jsonl');
    writeFileSync(path, '{"text":"a","project":"/p"}\nnot JSON\n{"text":1}\n{"text":"b","project":"/p"}');
    expect(new PromptHistory(path, '/p').read()).toEqual(['b', 'a']);
  });

  test('a file that grows too large is shortened to its newest entries', () => {
    const path = join(directoryWith(), 'history.jsonl');
    const entry = (number: number) =>
      JSON.stringify({ text: `${number} ${'x'.repeat(4000)}`, project: '/p' });
    writeFileSync(path, Array.from({ length: 1200 }, (_, index) => `${entry(index)}\n`).join(''));
    const history = new PromptHistory(path, '/p');
    history.add('newest');
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(1002);
    expect(history.read()[0]).toBe('newest');
    expect(history.read()[1]).toMatch(/^1199 /);
  });

  test('without a directory to write to, nothing is kept', () => {
    const history = new PromptHistory(join(directoryWith({ file: '' }), 'file', 'history.jsonl'), '/p');
    history.add('a');
    expect(history.read()).toEqual([]);
  });
});
