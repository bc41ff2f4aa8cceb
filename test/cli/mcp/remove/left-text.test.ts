import { expect, test } from 'vitest';
import { leftText } from '../../../../src/cli/mcp/remove/start.ts';
import type { ConfiguredServer, Verdict } from '../../../../src/config/model.ts';

function having(path?: string, verdict: Verdict = { kind: 'ready' }) {
  const written = { name: 'x', scope: 'local', label: `${path}`, raw: { command: 'run' } } as const;
  const server: ConfiguredServer = {
    name: 'x',
    written: { ...written, path: `${path}` },
    verdict,
    settled: [],
    lost: [],
  };
  return { merged: { servers: path === undefined ? [] : [server], lost: [], faults: [] } };
}

test.each([
  ['another one has the name', having('/a'), having('/b'), 'the one of local, /b (stdio: run) counts now'],
  ['the one that has it stays', having('/a'), having('/a'), 'the one of local, /a (stdio: run) still counts'],
  ['nothing is left', having('/a'), having(), 'no server is called "x" any more'],
  [
    'one that does not count stays',
    having('/a', { kind: 'rejected' }),
    having('/a', { kind: 'rejected' }),
    'the one of local, /a (stdio: run) still has the name: rejected; to undo that: toolplane mcp approve x',
  ],
  [
    'another one has it and is off',
    having('/b'),
    having('/a', { kind: 'disabled', label: 's' }),
    'the one of local, /a (stdio: run) has the name now: disabled in s',
  ],
])('where %s, that is said', (_, before, after, text) => {
  expect(leftText(before, after, 'x')).toBe(text);
});
