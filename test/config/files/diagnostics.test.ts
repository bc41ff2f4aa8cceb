import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatKeyPath, limitDiagnostics } from '../../../src/config/files/diagnostics.ts';
import type { ConfigDiagnostic } from '../../../src/config/model.ts';

describe('limitDiagnostics', () => {
  const fault = (
    level: ConfigDiagnostic['level'],
    at: number,
    more: Partial<ConfigDiagnostic> = {},
  ): ConfigDiagnostic => ({
    level,
    scope: 'project',
    label: '.mcp.json',
    key: `k${at}`,
    message: 'no',
    ...more,
  });

  test('keeps all diagnostics up to the limit', () => {
    const faults = Array.from({ length: 50 }, (_, at) => fault('warning', at));
    expect(limitDiagnostics(faults)).toEqual(faults);
  });

  test('keeps errors before warnings, in file order, and counts the rest', () => {
    const warnings = Array.from({ length: 60 }, (_, at) => fault('warning', at));
    const errors = [fault('error', 60), fault('error', 61, { isFatal: true })];
    expect(limitDiagnostics([...warnings, ...errors])).toEqual([
      ...warnings.slice(0, 48),
      ...errors,
      {
        level: 'warning',
        scope: 'project',
        label: '.mcp.json',
        key: '…',
        message: 'and 12 more problems not listed here; fix the listed problems first',
      },
    ]);
  });

  test('the count is fatal if an omitted diagnostic is', () => {
    const faults = Array.from({ length: 51 }, (_, at) => fault('error', at, { isFatal: true }));
    expect(limitDiagnostics(faults).at(-1)).toMatchObject({ level: 'error', isFatal: true });
  });
});

describe('formatKeyPath', () => {
  test.each<[readonly (string | number)[], string]>([
    [['mcpServers', 'github', 'args'], 'mcpServers.github.args'],
    [['connectors', 0, 'url'], 'connectors[0].url'],
    [['mcpServers', 'a.b', 'url'], 'mcpServers["a.b"].url'],
    [['mcpServers', ''], 'mcpServers[""]'],
    [['mcpServers', 'a\nb\u202e'], 'mcpServers["a\\nb\\u202e"]'],
    [['bare'], 'bare'],
    [['x', 'y'.repeat(300)], `x["${'y'.repeat(80)}…"]`],
  ])('formats %j as %s', (way, text) => {
    expect(formatKeyPath(way)).toBe(text);
  });

  test('keeps any name on one line and makes invisible characters visible', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (way) => {
        expect(formatKeyPath(way)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});
