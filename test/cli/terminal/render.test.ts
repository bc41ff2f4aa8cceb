import { expect, test } from 'vitest';
import { cutLine, line, render } from '../../../src/cli/terminal/render.ts';

const plain = { columns: 20, hasColors: false };
const coloured = { columns: 20, hasColors: true };

test('uses colors only if the terminal supports them', () => {
  const piece = line('a ', ['b', 'bad'], [' c', 'dim']);
  expect(render(piece, plain)).toBe('a b c');
  expect(render(piece, coloured)).toBe('a \u001b[31mb\u001b[39m\u001b[2m c\u001b[22m');
});

test('text cannot set colors itself', () => {
  const hostile = '\u001b[31mred';
  expect(render({ kind: 'flow', text: hostile }, coloured)).toBe('␛[31mred');
  expect(render(line(hostile), coloured)).toBe('␛[31mred');
  expect(render(cutLine([hostile, 'good']), coloured)).toBe('\u001b[32m␛[31mred\u001b[39m');
});

test('a cut line fits into one row, whatever its spans', () => {
  expect(render(cutLine(['● ', 'accent'], 'name', [' a: 1,\n b: 2 and more', 'dim']), plain)).toBe(
    '● name a: 1, b: 2 …',
  );
  expect(render(cutLine('x'.repeat(30), ['never seen', 'bad']), coloured)).toBe(`${'x'.repeat(18)}…`);
});

test('each line of a wrapped text is colored separately', () => {
  expect(render(line(['a\nb', 'bad']), coloured)).toBe('\u001b[31ma\u001b[39m\n\u001b[31mb\u001b[39m');
  expect(render(line('x'.repeat(30)), plain)).toBe('x'.repeat(30));
});
