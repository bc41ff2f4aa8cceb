import { expect, test } from 'vitest';
import { MCP_VERSIONS, negotiateVersion } from '../../src/protocol/mcp.ts';

test.each(MCP_VERSIONS)('C8 the supported revision %s is echoed', (version) => {
  expect(negotiateVersion(version)).toBe(version);
});

test.each(['2026-07-28', '1.0', '', undefined, null, 5, {}])(
  'C8 the unsupported revision %o is answered with the newest one',
  (version) => {
    expect(negotiateVersion(version)).toBe('2025-11-25');
  },
);
