import { expect, test } from 'vitest';
import { chooseServers } from '../../../../src/cli/mcp/import/import.ts';
import type { Candidate } from '../../../../src/cli/mcp/import/import-decision.ts';
import { render } from '../../../../src/cli/terminal/render.ts';

const ONE: Candidate = {
  source: 'cursor',
  title: 'Cursor',
  path: '/c',
  isOfProject: false,
  server: { name: 'one', entry: { command: 'a' }, from: 'user', notes: [], isOff: false },
  comparison: { kind: 'new' },
};

test('an invalid answer is named before the choices are printed again', async () => {
  const lines = ['yes', '?', 'a'];
  const shown: string[] = [];
  const end = await chooseServers([ONE], {
    print: (pieces) => shown.push(...pieces.map((it) => render(it, { columns: 80, hasColors: false }))),
    ask: async () => ({ kind: 'text', text: lines.shift() ?? '' }),
  });
  expect(end).toEqual({ kind: 'chosen', candidates: [ONE] });
  const keys = '  a all 1 new     o one by one   n none';
  const [first, second] = ['  "yes" was not understood.', '  "?" was not understood.'];
  expect(shown).toEqual([keys, first, keys, second, keys]);
});
