import { expect, test } from 'vitest';
import { checked, report, reportText } from '../../../../src/cli/mcp/doctor/report.ts';
import { render } from '../../../../src/cli/terminal/render.ts';

const textOf = (it: ReturnType<typeof report>) =>
  reportText(it).map((piece) => render(piece, { columns: 80, hasColors: false }));

test('the level of a row is that of its worst finding; warnings are not failures', () => {
  const well = checked('a', []);
  const odd = checked('b', [
    { check: 'x', level: 'ok', text: 'fine' },
    { check: 'y', level: 'warning', text: 'odd', fix: 'do this' },
  ]);
  const told = report([well], [odd, checked('c', [{ check: 'z', level: 'waiting', text: 'waits' }])]);
  expect(told).toMatchObject({ broken: 0, warnings: 1, waiting: 1 });
  expect(textOf(told)).toEqual([
    'files',
    '  ✓ a',
    '',
    'servers',
    '  ⚠ b',
    '    ⚠ odd',
    '      fix: do this',
    '  ⏸ c',
    '    ⏸ waits',
    '',
    '1 file and 2 servers checked: 1 warning, 1 waiting for your decision.',
  ]);
});
