import { expect, test } from 'vitest';
import { serverFindings } from '../../../../src/cli/mcp/doctor/server-findings.ts';
import type { ServerRecord } from '../../../../src/config/explain/server-record.ts';
import type { ToolChange } from '../../../../src/pool/pinning/tool-change.ts';

const record: ServerRecord = {
  name: 'x',
  ignored: [],
  state: 'connected',
  reason: '',
  next: [],
  diagnostics: [],
  references: [],
  expansionErrors: [],
  connection: { state: 'connected', tools: 2, era: 'legacy', protocolVersion: '2025-11-25' },
};
const failed = (more: Partial<ServerRecord>): ServerRecord => ({
  ...record,
  state: 'failed',
  reason: 'it did not answer',
  next: ['do this', 'or that'],
  ...more,
});

test('changed, expensive and wrongly listed tools and output on stdout are warnings with a fix', () => {
  const change = { server: 'x', tool: 'drop', text: 'its description is another' } as unknown as ToolChange;
  const found = serverFindings(record, {
    changes: [change],
    tokens: 30_000,
    warnings: [
      { message: 'tool "a" has no schema' },
      { message: 'banner', subject: { kind: 'stdout', output: 'Ready on stdio' } },
      { message: 'banner', subject: { kind: 'stdout', output: 'v1' } },
    ],
  });
  expect(found.map(({ check, level }) => [check, level])).toEqual([
    ['handshake', 'ok'],
    ['stdout', 'warning'],
    ['tools', 'warning'],
    ['cost', 'warning'],
    ['changed', 'warning'],
  ]);
  expect(found[0]?.text).toBe('a server without a name, legacy 2025-11-25 protocol');
  expect(found.at(-1)?.fix).toBe('to accept it: toolplane tools accept x drop');
  expect(found[1]).toMatchObject({
    text: 'non-protocol output on stdout: Ready on stdio (and 1 more)',
    fix: expect.stringContaining('log to stderr'),
  });
  expect(found[2]?.fix).toBe("report this to the server's author");
  expect(found[3]).toMatchObject({
    text: expect.stringContaining('30,000 tokens'),
    fix: expect.stringContaining('includeTools'),
  });
});

test.each([
  ['expansion', { connection: 'not asked' }],
  ['command', { connection: { state: 'failed', code: 'spawn-failed', stage: 'command' } }],
  ['address', { connection: { state: 'failed', code: 'unreachable', stage: 'address' } }],
  ['tls', { connection: { state: 'failed', code: 'unreachable', stage: 'tls' } }],
  ['auth', { connection: { state: 'needs-auth', code: 'unauthorized' } }],
  ['handshake', { connection: { state: 'failed', code: 'timeout' } }],
] as const)('a failure of the step %s is an error with the first next step as fix', (check, more) => {
  expect(serverFindings(failed(more))).toEqual([
    { check, level: 'error', text: 'it did not answer', fix: 'do this' },
  ]);
});

test.each([
  ['broken', 'error'],
  ['blocked', 'error'],
  ['pending', 'waiting'],
  ['rejected', 'waiting'],
  ['disabled', 'waiting'],
] as const)('a server that is %s has the level %s', (state, level) => {
  const [found] = serverFindings(failed({ state, connection: 'not asked' }));
  expect(found).toMatchObject({ check: state, level });
});

test('stderr of the process is appended unless the reason contains it', () => {
  const connection = { state: 'failed', code: 'timeout', stderr: ['no key'] };
  expect(serverFindings(failed({ connection }))[0]?.text).toBe('it did not answer; stderr: no key');
  const reason = 'it ended: no key';
  expect(serverFindings(failed({ connection, reason }))[0]?.text).toBe(reason);
});
