import { expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { collect } from '../../support/collect.ts';
import { allow, drive } from '../../support/drive.ts';
import { fixture } from '../../support/fixture-server.ts';
import { foldersOf, listedSteps, stackOfWrite } from '../../support/source-walk.ts';

test('a tool call goes from the loop to the transport in few steps, through each folder once', async () => {
  const { query } = drive(
    [toolUse('mcp__fix__echo', { text: 'hi' }, 't1'), text('ok')],
    {},
    { servers: { fix: fixture() }, rules: allow('mcp__fix') },
  );
  const files = await stackOfWrite('tools/call', () => collect(query));
  const fromLoop = files.slice(files.indexOf('agent/loop/loop.ts'));
  expect(foldersOf(fromLoop)).toEqual([
    'agent/loop',
    'agent/calls',
    'mcp/calls',
    'mcp/connection',
    'mcp/transports',
  ]);
  expect(fromLoop.length).toBeLessThanOrEqual(16);
});

test('ARCHITECTURE.md lists at most 20 functions of a tool call, and each exists', () => {
  const { steps, missing } = listedSteps('A tool call');
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.length).toBeLessThanOrEqual(20);
  expect(missing).toEqual([]);
});
