import { expect, test } from 'vitest';
import { MCP_VERSIONS, negotiateVersion } from '../../src/protocol/mcp.ts';

test.each(MCP_VERSIONS)('C8 %s is spoken, so it is echoed', (version) => {
  expect(negotiateVersion(version)).toBe(version);
});

test.each(['2026-07-28', '1.0', '', undefined, null, 5, {}])(
  'C8 %o is not spoken, so our newest is offered',
  (version) => {
    expect(negotiateVersion(version)).toBe('2025-11-25');
  },
);
