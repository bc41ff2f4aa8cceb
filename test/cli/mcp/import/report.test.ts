import { expect, test } from 'vitest';
import { donePieces, type Row } from '../../../../src/cli/mcp/import/report.ts';
import { render } from '../../../../src/cli/terminal/render.ts';

const ROW: Row = {
  candidate: {
    source: 'cursor',
    title: 'Cursor',
    path: '/c',
    isOfProject: false,
    server: {
      name: 'one',
      entry: { command: 'a' },
      from: 'user',
      notes: ['"x" is not imported'],
      isOff: false,
    },
    comparison: { kind: 'new', also: 'local, f' },
  },
  done: { kind: 'written', hadOne: false, secrets: [], literal: [] },
};

test.each<[boolean, boolean, string[]]>([
  [
    true,
    false,
    ['✓ one from Cursor: written: stdio: a (also in this project: local, f)', '    "x" is not imported'],
  ],
  [
    false,
    false,
    [
      '✓ one from Cursor: would be written: stdio: a (also in this project: local, f)',
      '    "x" is not imported',
    ],
  ],
  [true, true, ['✓ one from Cursor: written']],
])('reports each result once: written %j, shown before %j', (writes, isShown, lines) => {
  const pieces = donePieces([ROW], { writes, isShown });
  expect(pieces.map((it) => render(it, { columns: 80, hasColors: false }))).toEqual(lines);
});
