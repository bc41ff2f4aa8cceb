import { describe, expect, test } from 'vitest';
import { inputFrame } from '../../../src/cli/terminal/editor/input-rows.ts';
import {
  EMPTY_PROMPT,
  type PromptState,
  pasteText,
  press,
  promptText,
  remember,
  withText,
} from '../../../src/cli/terminal/editor/prompt-state.ts';
import { editText, type Key, type TextInput } from '../../../src/cli/terminal/editor/text-input.ts';

/** A text with its cursor at `|`. */
function at(shown: string): TextInput {
  const cursor = shown.indexOf('|');
  return { text: shown.replace('|', ''), cursor, killed: '' };
}

function shown({ text, cursor }: TextInput): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

/** `ctrl-a`, `meta-b`, `left`, or one typed character. */
function key(name: string): Key {
  const [, modifier, base = name] = /^(ctrl|meta|shift)-(.+)$/.exec(name) ?? [];
  const isTyped = modifier === undefined && [...name].length === 1;
  return {
    name: base,
    sequence: isTyped ? name : '\u001b',
    ctrl: modifier === 'ctrl',
    meta: modifier === 'meta',
    shift: modifier === 'shift',
  };
}

describe('text', () => {
  test.each([
    ['ab|', 'c', 'abc|'],
    ['a|b', 'é', 'aé|b'],
    ['ab|', 'left', 'a|b'],
    ['|ab', 'left', '|ab'],
    ['a👩‍👩‍👧|b', 'left', 'a|👩‍👩‍👧b'],
    ['a|👩‍👩‍👧b', 'right', 'a👩‍👩‍👧|b'],
    ['a👩‍👩‍👧|', 'backspace', 'a|'],
    ['a|b', 'delete', 'a|'],
    ['a|b', 'ctrl-d', 'a|'],
    ['one two|', 'meta-b', 'one |two'],
    ['one| two', 'ctrl-right', 'one two|'],
    ['one two|', 'ctrl-w', 'one |'],
    ['a/b-c|', 'meta-backspace', 'a/b-|'],
    ['one |two', 'ctrl-k', 'one |'],
    ['one |two', 'ctrl-u', '|two'],
    ['one\ntwo|', 'ctrl-a', 'one\n|two'],
    ['o|ne\ntwo', 'ctrl-e', 'one|\ntwo'],
    ['one\nt|wo', 'ctrl-u', 'one\n|wo'],
  ])('%s, then %s, is %s', (before, pressed, after) => {
    const edited = editText(at(before), key(pressed));
    expect(edited && shown(edited)).toBe(after);
  });

  test('Ctrl-Y inserts what was removed last', () => {
    const removed = editText(at('one two|'), key('ctrl-w')) as TextInput;
    expect(shown(editText(removed, key('ctrl-y')) as TextInput)).toBe('one two|');
  });

  test.each(['up', 'escape', 'ctrl-r', 'f5'])('%s does not edit', (name) => {
    expect(editText(at('a|'), key(name))).toBeUndefined();
  });
});

describe('prompt', () => {
  const MESSAGE = { isMessage: true };
  const history = ['newest', 'older\nof two lines', 'oldest'];

  function type(state: PromptState, ...names: string[]): { state: PromptState; outcome: string | undefined } {
    let outcome: string | undefined;
    let next = state;
    for (const name of names) {
      const pressed = press(next, key(name), MESSAGE);
      next = pressed.state;
      outcome = pressed.outcome;
    }
    return { state: next, outcome };
  }

  const withHistory: PromptState = {
    ...EMPTY_PROMPT,
    history: { ...EMPTY_PROMPT.history, entries: history },
  };

  test.each<[string[], string]>([
    [['up'], 'newest'],
    [['up', 'up'], 'older\nof two lines'],
    [['up', 'up', 'up'], 'oldest'],
    [['up', 'up', 'up', 'up'], 'oldest'],
    [['up', 'up', 'down'], 'newest'],
    [['up', 'down'], ''],
    [['x', 'up', 'down'], 'x'],
    [['down'], ''],
  ])('%j shows %j', (names, text) => {
    expect(type(withHistory, ...names).state.input.text).toBe(text);
  });

  test('arrow keys move between the lines of a draft before they recall messages', () => {
    const draft = withText(withHistory, 'one\ntwo');
    const moved = type(draft, 'up').state;
    expect(shown(moved.input)).toBe('one|\ntwo');
    expect(type(moved, 'up').state.input.text).toBe('newest');
    expect(type(moved, 'down').state.input.cursor).toBe(7);
  });

  test.each<[string, Key, object, string | undefined, string]>([
    ['abc', key('return'), {}, 'submit', 'abc'],
    ['abc\\', key('return'), {}, undefined, 'abc\n'],
    ['abc', key('meta-return'), {}, undefined, 'abc\n'],
    ['abc', key('return'), { isBurst: true }, undefined, 'abc\n'],
    ['abc', key('enter'), { isAlone: true }, undefined, 'abc\n'],
    ['abc', key('enter'), {}, 'submit', 'abc'],
    ['', key('ctrl-d'), {}, 'end', ''],
    ['abc', key('ctrl-c'), {}, 'interrupt', 'abc'],
    ['abc', key('escape'), {}, 'escape', 'abc'],
    ['abc', key('shift-tab'), {}, 'cycle-mode', 'abc'],
    ['abc', key('ctrl-o'), {}, 'expand', 'abc'],
  ])('%j with %j %j: %s', (text, pressed, context, outcome, after) => {
    const result = press(withText(EMPTY_PROMPT, text), pressed, { ...MESSAGE, ...context });
    expect(result.outcome).toBe(outcome);
    expect(result.state.input.text).toBe(after);
  });

  test('Enter ends an answer, whatever it ends with', () => {
    const answer = withText(EMPTY_PROMPT, 'C:\\');
    expect(press(answer, key('return'), { isMessage: false }).outcome).toBe('submit');
  });

  test('long pasted text is one placeholder, and is sent whole', () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\r\n');
    const pasted = pasteText(withText(EMPTY_PROMPT, 'see: '), lines);
    expect(pasted.input.text).toBe('see: [Pasted text #1, 30 lines]');
    expect(promptText(type(pasted, '!').state)).toBe(`see: ${lines.replaceAll('\r', '')}!`);
    // The placeholder of another message is only text.
    expect(promptText(withText(EMPTY_PROMPT, '[Pasted text #1, 30 lines]'))).toBe(
      '[Pasted text #1, 30 lines]',
    );
  });

  describe('a placeholder', () => {
    const lines = 'line\n'.repeat(50);
    const label = '[Pasted text #1, 50 lines]';
    const pasted = pasteText(withText(withHistory, 'look: '), lines);

    test('does not count a final line end', () => {
      expect(pasted.input.text).toBe(`look: ${label}`);
    });

    test('still stands for its text when an earlier message was shown', () => {
      const { state } = type(pasted, 'up', 'up', 'down', 'down');
      expect(state.input.text).toBe(`look: ${label}`);
      expect(promptText(state)).toBe(`look: ${lines}`);
      expect(promptText(type(pasted, 'up').state)).toBe('newest');
    });

    test.each<[string[], string]>([
      [['backspace'], 'look: |'],
      [['ctrl-w'], 'look: |'],
      [['left'], `look: |${label}`],
      [['left', 'right'], `look: ${label}|`],
      [['left', 'delete'], 'look: |'],
      [['meta-b', 'x'], `look: x|${label}`],
      [['meta-backspace', 'ctrl-y'], `look: ${label}|`],
      [['ctrl-a', 'meta-d'], `|: ${label}`],
      [['ctrl-a', 'ctrl-k'], '|'],
    ])('is one unit for %j', (names, after) => {
      const { state } = type(pasted, ...names);
      expect(shown(state.input)).toBe(after);
      expect(promptText(state)).toBe(after.replace('|', '').replace(label, lines));
    });

    test('the cursor does not move into it from another line', () => {
      const { state } = type(pasteText(withText(EMPTY_PROMPT, 'first line\n'), lines), 'up', 'down');
      expect(shown(state.input)).toBe(`first line\n${label}|`);
    });

    test('as typed text is edited by characters', () => {
      expect(type(withText(EMPTY_PROMPT, label), 'backspace').state.input.text).toBe(label.slice(0, -1));
    });
  });

  test('short pasted text is shown and not sent', () => {
    expect(pasteText(EMPTY_PROMPT, 'one\rtwo').input.text).toBe('one\ntwo');
  });

  test('a search finds messages that contain the text, newest first', () => {
    const searched = type(withHistory, 'ctrl-r', 'O', 'l', 'd').state;
    expect(type(searched, 'tab').state.input.text).toBe('older\nof two lines');
    expect(type(searched, 'ctrl-r', 'tab').state.input.text).toBe('oldest');
    expect(type(searched, 'ctrl-r', 'ctrl-r', 'tab').state.input.text).toBe('older\nof two lines');
    expect(type(searched, 'return')).toMatchObject({
      outcome: 'submit',
      state: { input: { text: 'older\nof two lines' } },
    });
    expect(type(searched, 'ctrl-c').state.input.text).toBe('');
    expect(type(searched, 'z', 'return')).toMatchObject({
      outcome: undefined,
      state: { input: { text: '' } },
    });
  });

  test('an entry of the history is kept once, and the oldest are dropped', () => {
    expect(remember(['b', 'a'], 'a', 2)).toEqual(['a', 'b']);
    expect(remember(['b', 'a'], 'c', 2)).toEqual(['c', 'b']);
    expect(remember(['a'], '  ', 2)).toEqual(['a']);
  });

  describe('menu', () => {
    const items = [{ text: '/model ' }, { text: '/mode ' }, { text: '/mcp ', isWhole: true }];
    const open: PromptState = { ...withText(EMPTY_PROMPT, '/m'), menu: { from: 0, items, at: 0 } };

    test.each<[string[], string, string | undefined]>([
      [['tab'], '/model ', undefined],
      [['down', 'tab'], '/mode ', undefined],
      [['up', 'tab'], '/mcp ', undefined],
      [['return'], '/model ', undefined],
      [['up', 'return'], '/mcp ', 'submit'],
      [['escape'], '/m', undefined],
      [['escape', 'return'], '/m', 'submit'],
    ])('%j gives %j', (names, text, outcome) => {
      const result = type(open, ...names);
      expect(result.state.input.text).toBe(text);
      expect(result.outcome).toBe(outcome);
      expect(result.state.menu).toBeUndefined();
    });

    test('a name that was typed whole is sent', () => {
      const typed = { ...withText(EMPTY_PROMPT, '/mode'), menu: { from: 0, items, at: 0 } };
      expect(type(typed, 'return')).toMatchObject({ outcome: 'submit', state: { input: { text: '/mode' } } });
    });
  });
});

describe('input rows', () => {
  const look = { columns: 20, hasColors: false, maxRows: 4 };
  const view = (state: PromptState) => ({
    prompt: '› ',
    kind: 'message' as const,
    state,
    queued: [],
    choices: [],
    chosen: 0,
  });
  const frameOf = (input: TextInput) => inputFrame(view({ ...EMPTY_PROMPT, input }), '› ', look);

  test.each<[string, string[], { row: number; column: number }]>([
    ['|', ['› '], { row: 0, column: 2 }],
    ['ab|c', ['› abc'], { row: 0, column: 4 }],
    ['one\ntwo|', ['› one', '  two'], { row: 1, column: 5 }],
    ['0123456789abcdefg|', ['› 0123456789abcdefg'], { row: 0, column: 19 }],
    ['0123456789abcdefgh|', ['› 0123456789abcdefg', '  h'], { row: 1, column: 3 }],
    ['漢字漢字漢字漢字漢|', ['› 漢字漢字漢字漢字', '  漢'], { row: 1, column: 4 }],
    ['a\n\u001b[2Jb|', ['› a', '  ␛[2Jb'], { row: 1, column: 7 }],
    ['1\n2\n3\n4\n5\n6|', ['  3', '  4', '  5', '  6'], { row: 3, column: 3 }],
    ['1|\n2\n3\n4\n5\n6', ['› 1', '  2', '  3', '  4'], { row: 0, column: 3 }],
  ])('%j', (text, rows, cursor) => {
    expect(frameOf(at(text))).toEqual({ rows, cursor });
  });

  test('the details of choices are aligned, and long labels leave room for them', () => {
    const choices = [
      { label: 'short', detail: '2 h ago' },
      { label: 'a label that is too long for it', detail: 'now' },
    ];
    const frame = inputFrame({ ...view(EMPTY_PROMPT), choices }, 'Choose', { ...look, columns: 30 });
    expect(frame.rows.slice(0, 3)).toEqual([
      'Choose',
      '› short               2 h ago',
      '  a label that is t…  now',
    ]);
  });

  test('a long prompt is wrapped above the text', () => {
    const frame = inputFrame(view(withText(EMPTY_PROMPT, 'x')), 'the name of the project (string): ', look);
    expect(frame.rows).toEqual(['the name of', 'the project', '(string): x']);
    expect(frame.cursor).toEqual({ row: 2, column: 11 });
  });
});
