import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { collect } from '../../support/collect.ts';
import { allow, drive } from '../../support/drive.ts';
import { fixture } from '../../support/fixture-server.ts';

/** The source functions on the stack when the first write that contains the text happens, outermost first. */
async function stackOfWrite(content: string, work: () => Promise<unknown>): Promise<string[]> {
  let stack = '';
  const write = Duplex.prototype.write as (...args: unknown[]) => boolean;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const spy = vi.spyOn(Duplex.prototype, 'write').mockImplementation(function (this: Duplex, ...args) {
    if (stack === '' && String(args[0]).includes(content)) stack = new Error('trace').stack ?? '';
    return write.apply(this, args);
  });
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit;
    spy.mockRestore();
  });
  await work();
  return [...stack.matchAll(/\/src\/(.+?\.ts):/g)].map(([, file]) => file as string).reverse();
}

test('a tool call goes from the loop to the transport in few steps, through each folder once', async () => {
  const { query } = drive(
    [toolUse('mcp__fix__echo', { text: 'hi' }, 't1'), text('ok')],
    {},
    { servers: { fix: fixture() }, rules: allow('mcp__fix') },
  );
  const files = await stackOfWrite('tools/call', () => collect(query));
  const fromLoop = files.slice(files.indexOf('agent/loop/loop.ts'));
  const folders = fromLoop.map((file) => file.split('/').slice(0, 2).join('/'));
  expect(folders.filter((folder, at) => folder !== folders[at - 1])).toEqual([
    'agent/loop',
    'agent/calls',
    'mcp/calls',
    'mcp/connection',
    'mcp/transports',
  ]);
  expect(fromLoop.length).toBeLessThanOrEqual(16);
});

test('ARCHITECTURE.md lists at most 20 functions of the walk, and each exists', () => {
  const root = new URL('../../../', import.meta.url);
  const page = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| `(#?\w+)` \| `([\w/-]+\.ts)` \|/gm)];
  const section = page.slice(page.indexOf('## A tool call'), page.indexOf('## A configured server'));
  const steps = rows.filter(([row]) => section.includes(row));
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.length).toBeLessThanOrEqual(20);
  const missing = steps.filter(([, , name, file]) => {
    const source = readFileSync(new URL(`src/${file}`, root), 'utf8');
    return !new RegExp(`(?:function |^ *(?:async )?)${name}(?:<T>)?(?:\\(|: )`, 'm').test(source);
  });
  expect(missing.map(([row]) => row)).toEqual([]);
});
