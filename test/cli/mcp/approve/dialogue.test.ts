import { expect, test } from 'vitest';
import type { ReadEnd } from '../../../../src/cli/chat/line-editor.ts';
import { render } from '../../../../src/cli/chat/render.ts';
import { type Asking, holdDialogue } from '../../../../src/cli/mcp/approve/dialogue.ts';
import type { Pending } from '../../../../src/cli/mcp/approve/pending.ts';

const server = (name: string): Pending & { kind: 'server' } => ({
  kind: 'server',
  choice: 'new',
  written: { name, scope: 'project', label: '.mcp.json', path: '/r/.mcp.json', raw: { command: name } },
});

const SETTINGS: Pending & { kind: 'settings' } = {
  kind: 'settings',
  choice: 'new',
  source: {
    scope: 'project',
    label: '.toolplane/settings.json',
    path: '/r/.toolplane/settings.json',
    value: { permissions: { allow: ['Bash(make *)'], deny: ['Read(.env)'] } },
    locate: () => undefined,
  },
};

/** Somebody who types these lines; what stands for no line is how they leave. */
const answered = (all: readonly Pending[], ...lines: readonly Line[]) => answeredIn('/r', all, ...lines);

type Line = string | Exclude<ReadEnd['kind'], 'text'>;

async function answeredIn(directory: string | undefined, all: readonly Pending[], ...lines: readonly Line[]) {
  const left = [...lines];
  let shown = '';
  const asking: Asking = {
    print: (pieces) => {
      for (const piece of pieces) shown += `${render(piece, { columns: 80, colours: false })}\n`;
    },
    ask: async (prompt) => {
      shown += prompt;
      const next = left.shift() ?? 'ended';
      return next === 'interrupted' || next === 'ended' || next === 'withdrawn'
        ? { kind: next }
        : { kind: 'text', text: next };
    },
  };
  const end = await holdDialogue(all, directory, asking);
  return { end, shown, left };
}

const [A, B, C] = [server('a'), server('b'), server('c')];
const NONE = { approved: [], rejected: [], settings: [], rejectedSettings: [] };

test.each<[string, Parameters<typeof answered>, object]>([
  [
    'yes, no and skip',
    [[A, B, C], 'y', 'NO', ' skip '],
    { ...NONE, approved: [A.written], rejected: [B.written] },
  ],
  ['settings', [[A, SETTINGS], 'n', 'yes'], { ...NONE, rejected: [A.written], settings: [SETTINGS.source] }],
  ['no to settings', [[SETTINGS], 'n'], { ...NONE, rejectedSettings: [SETTINGS.source] }],
  ['stop: what was said counts', [[A, B, C], 'y', 'q'], { ...NONE, approved: [A.written] }],
  ['trust, said twice', [[A, B, C], 'n', 't', 'yes'], { ...NONE, rejected: [A.written], trusted: '/r' }],
  ['trust, by more than one key', [[A], 't', 'y', 'yes'], { ...NONE, trusted: '/r' }],
  ['trust, and then not', [[A], 't', 'y', 'no', 's'], NONE],
])('%s', async (_, [all, ...lines], decisions) => {
  const { end, left } = await answered(all, ...lines);
  expect({ end, left }).toEqual({ end: { kind: 'decided', decisions }, left: [] });
});

test.each([
  ['interrupted', ['y', 'interrupted']],
  ['ended', ['y', 'ended']],
  ['withdrawn', ['withdrawn']],
  ['interrupted', ['t', 'interrupted']],
] as const)('who is %s has decided nothing', async (kind, lines) => {
  expect((await answered([A, B], ...lines)).end).toEqual({ kind });
});

test('what is no answer is asked again; an empty line is none, nor is the name of a member', async () => {
  const { end, shown } = await answered([A], '', 'maybe', 'constructor', 's');
  expect(end).toEqual({ kind: 'decided', decisions: NONE });
  expect(shown.match(/approve\? /g)).toHaveLength(4);
});

test('where there is nothing to trust as a whole, it is not offered and not taken', async () => {
  const { end, shown } = await answeredIn(undefined, [A], 't', 'trust', 's');
  expect(end).toEqual({ kind: 'decided', decisions: NONE });
  expect(shown).not.toContain('trust');
});

test('what trust means is said in words before it is asked for', async () => {
  const { shown } = await answered([A], 't', 'y', 'no', 's');
  expect(shown).toContain(
    'every server, hook, allow rule and variable in /r, now and after every pull, will count without a question\ntrust all of it? (yes or no)   type yes if you mean it\ntrust all of it? (yes or no) ',
  );
});
