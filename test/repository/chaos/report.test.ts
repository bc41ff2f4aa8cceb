import { expect, test } from 'vitest';
import { FAULTS } from '../../../chaos/faults/table.ts';
import { formatReport } from '../../../chaos/report.ts';

const pass = { pass: true, note: '' };

test('a line for each fault, a mark for each client, totals at the end', () => {
  const rows = [
    { name: 'crash', ...pass, sdk: { pass: false, note: 'it hangs' }, aiSdk: pass },
    { name: 'noise', pass: false, note: 'it gives up', sdk: pass, aiSdk: pass },
    { name: 'abort', pass: true, note: 'at once', sdk: pass, aiSdk: pass },
  ];
  expect(formatReport(rows)).toMatchInlineSnapshot(`
    "crash  ✓ ✗ ✓  @modelcontextprotocol/client: it hangs
    noise  ✗ ✓ ✓  it gives up
    abort  ✓ ✓ ✓  at once

    ours: 2 of 3
    @modelcontextprotocol/client: 2 of 3
    @ai-sdk/mcp: 3 of 3
    "
  `);
});

test('without the others there is one mark a line', () => {
  expect(formatReport([{ name: 'noise', pass: true, note: 'passed over' }])).toMatchInlineSnapshot(`
    "noise  ✓  passed over

    ours: 1 of 1
    "
  `);
});

test('there are faults enough, each named in kebab-case and with a sentence of what holds', () => {
  const names = Object.keys(FAULTS);
  expect(names.length).toBeGreaterThanOrEqual(96);
  expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
  expect(Object.values(FAULTS).filter(({ holds }) => holds.split(' ').length < 5)).toEqual([]);
});
