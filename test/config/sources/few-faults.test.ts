import { expect, test } from 'vitest';
import type { ConfigFault } from '../../../src/config/model.ts';
import { fewFaults } from '../../../src/config/sources/few-faults.ts';

const fault = (level: ConfigFault['level'], at: number, more: Partial<ConfigFault> = {}): ConfigFault => ({
  level,
  scope: 'project',
  label: '.mcp.json',
  key: `k${at}`,
  message: 'no',
  ...more,
});

test('as many as anybody reads are all told', () => {
  const faults = Array.from({ length: 50 }, (_, at) => fault('warning', at));
  expect(fewFaults(faults)).toEqual(faults);
});

test('of more, what does not count comes before warnings, in the order of the file, and the rest is a number', () => {
  const warnings = Array.from({ length: 60 }, (_, at) => fault('warning', at));
  const errors = [fault('error', 60), fault('error', 61, { isFatal: true })];
  expect(fewFaults([...warnings, ...errors])).toEqual([
    ...warnings.slice(0, 48),
    ...errors,
    {
      level: 'warning',
      scope: 'project',
      label: '.mcp.json',
      key: '…',
      message: 'and 12 more; mend these first',
    },
  ]);
});

test('if those left out keep an agent from starting, the number does too', () => {
  const faults = Array.from({ length: 51 }, (_, at) => fault('error', at, { isFatal: true }));
  expect(fewFaults(faults).at(-1)).toMatchObject({ level: 'error', isFatal: true });
});
