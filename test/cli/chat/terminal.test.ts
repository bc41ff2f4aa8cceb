import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { directoryWith } from '../../agent/builtins/built-in-world.ts';
import { hasScript, TerminalProcess } from '../support/terminal-process.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ESC = '\u001b';
const SHIFT_TAB = '\u001b[Z';

const MARKDOWN = [
  '# Result',
  '',
  'The **build** passes; see `src/index.ts` for the entry point of the whole package and its exports.',
  '- first',
  '- second',
  '```ts',
  'const answer = 42; // the answer',
  '```',
].join('\n');

const LONG = Array.from({ length: 40 }, (_, index) => `row ${index + 1}`).join('\n');

/** A chat with scripted replies in its own terminal and directory. */
function openChat(replies: readonly unknown[], { columns = 120, flags = [] as string[] } = {}) {
  const cwd = directoryWith({
    'replies.json': JSON.stringify(replies),
    'notes.txt': 'one\ntwo\n',
    'long.txt': LONG,
  });
  const home = join(cwd, 'home');
  const env = { HOME: home, TOOLPLANE_HOME: join(home, '.toolplane') };
  const args = ['chat', '--model', `scripted:${join(cwd, 'replies.json')}`, ...flags];
  const terminal = new TerminalProcess(args, env, undefined, cwd, { columns, rows: 30 });
  return { terminal, cwd, env, args };
}

const rule = (columns: number) => '─'.repeat(columns - 1);

describe.runIf(hasScript)('in a real terminal', () => {
  test.each([60, 120])(
    'at %d columns, no row is wider than the terminal, and text is wrapped in words',
    async (columns) => {
      const { terminal } = openChat([MARKDOWN], { columns });
      await terminal.shows(`${rule(columns)}\n›`);
      terminal.type('go\r');
      const screen = await terminal.shows(/const answer = 42; \/\/ the answer\n─+\n›/);
      expect(screen).toContain('\n› go\nResult\n');
      expect(screen).toContain('• first\n• second\n  const answer');
      for (const row of screen.split('\n')) expect(row.length).toBeLessThanOrEqual(columns);
      const passage =
        columns === 60
          ? 'The build passes; see src/index.ts for the entry point of\nthe whole package'
          : 'for the entry point of the whole package and its exports.';
      expect(screen).toContain(passage);
      terminal.type(CTRL_D);
      await terminal.closed;
      // The live area is removed, the input is echoed again, and pastes are no longer marked.
      expect(terminal.screen).not.toContain('─');
      expect(terminal.printed).toMatch(/\[\?25h[\s\S]*\[\?2004l/);
    },
  );

  test('asks, shows a diff, folds long output and expands it', async () => {
    const edit = { tool: 'Edit', input: { file_path: 'notes.txt', old_string: 'two', new_string: 'three' } };
    const read = { tool: 'Read', input: { file_path: 'notes.txt' } };
    const list = { tool: 'Bash', input: { command: 'awk 1 long.txt', description: 'Show it' } };
    const { terminal, cwd } = openChat([read, edit, list, 'Done.'], { columns: 60 });
    await terminal.shows('›');
    terminal.type('go\r');
    const question = await terminal.shows(/allow\?$/);
    expect(question).toMatch(/Approval required: Edit\n[\s\S]*1 {2}one\n {2}2 -two\n {2}2 \+three\n/);
    terminal.type('y\r');
    expect(await terminal.shows(/\$ awk 1 long\.txt[\s\S]*allow\?$/)).toMatch(
      /notes\.txt \+1 −1\n {4}1 {2}one\n {4}2 -two\n {4}2 \+three\n/,
    );
    terminal.type('y\r');
    expect(await terminal.shows(/Done\.\n─/)).toContain('row 1\n    row 2\n    row 3\n    … 37 more lines');
    expect(readFileSync(join(cwd, 'notes.txt'), 'utf8')).toBe('one\nthree\n');
    terminal.type('/expand\r');
    await terminal.shows('    row 39\n    row 40\n');
    terminal.type(CTRL_D);
    await terminal.closed;
  });

  test('Shift-Tab changes the mode, Esc interrupts, and what was queued returns to the input', async () => {
    const wait = { tool: 'Bash', input: { command: 'tail -f /dev/null', timeout: 60_000 } };
    const { terminal } = openChat([wait, 'Stopped.'], { flags: ['--allowed-tools', 'Bash'] });
    await terminal.shows('asks before changes');
    terminal.type(SHIFT_TAB);
    await terminal.shows('edits allowed');
    terminal.type(SHIFT_TAB);
    await terminal.shows('plan mode');
    terminal.type(SHIFT_TAB);
    await terminal.shows('asks before changes');
    terminal.type('go\r');
    await terminal.shows(/Bash \d.*Esc interrupts/);
    terminal.type('next\r');
    await terminal.shows('queued: next');
    terminal.type(ESC);
    await terminal.shows(/Queued messages not sent: 1[\s\S]*─\n› next\n/);
    terminal.type(CTRL_C);
    terminal.type(CTRL_D);
    await terminal.closed;
  });

  test('messages are kept for the next chat, and /resume continues a conversation', async () => {
    const first = openChat(['The first answer.']);
    await first.terminal.shows('›');
    first.terminal.type('remember this\r');
    await first.terminal.shows('The first answer.');
    first.terminal.type(CTRL_D);
    await first.terminal.closed;
    const size = { columns: 80, rows: 30 };
    const second = new TerminalProcess(first.args, first.env, undefined, first.cwd, size);
    await second.shows('›');
    second.type('\u0012reme');
    await second.shows('search earlier messages: reme\n  remember this');
    second.type(CTRL_C);
    await second.shows(/─\n›\n/);
    second.type('/resume\r');
    await second.shows(/Conversations of this directory\n› remember this/);
    second.type('\r');
    await second.shows(/› remember this\nThe first answer\.\nResumed conversation/);
    second.type(CTRL_D);
    await second.closed;
  });

  test('!command runs in a shell, and the model learns of it', async () => {
    const { terminal, cwd } = openChat(['I saw it.']);
    await terminal.shows('›');
    terminal.type('!echo from-the-shell\r');
    await terminal.shows('\n  from-the-shell\n');
    terminal.type('!tail -f /dev/null\r');
    await terminal.shows(/! tail -f \/dev\/null \d.*Esc ends it/);
    terminal.type(ESC);
    await terminal.shows('ended by a signal');
    terminal.type('what was it?\r');
    await terminal.shows('I saw it.');
    terminal.type('/resume\r');
    await terminal.shows('No earlier conversation in this directory.');
    terminal.type('/clear\r');
    await terminal.shows('New conversation.');
    terminal.type('/resume\r');
    await terminal.shows('› ! echo from-the-shell');
    terminal.type(`${ESC}`);
    await terminal.shows(/─\n›\n/);
    terminal.type(CTRL_D);
    await terminal.closed;
    expect(cwd).not.toBe('');
  });

  test('pasted lines are one entry, and completion names commands and files', async () => {
    const { terminal } = openChat(['ok']);
    await terminal.shows('›');
    terminal.type(`\u001b[200~${LONG.replaceAll('\n', '\r')}\u001b[201~`);
    await terminal.shows('› [Pasted text #1, 40 lines]');
    terminal.type(CTRL_C);
    await terminal.shows(/─\n›\n/);
    terminal.type('/con');
    await terminal.shows(/› \/con\n› \/context/);
    terminal.type('\t');
    await terminal.shows(/─\n› \/context\n {2}\S/);
    terminal.type('\u0015see @no');
    await terminal.shows(/› see @no\n› notes\.txt/);
    terminal.type('\t\r');
    expect(await terminal.shows(/ok\n─/)).toContain('› see @notes.txt');
    terminal.type(CTRL_D);
    await terminal.closed;
  });

  test('/mcp add stores a server for this project, and the agent uses it', async () => {
    const { terminal, cwd } = openChat(['ok'], { columns: 120 });
    await terminal.shows('›');
    terminal.type('/mcp add\r');
    await terminal.shows('/mcp add needs a name');
    terminal.type('/mcp add far http://127.0.0.1:9/mcp\r');
    await terminal.shows(/added far[\s\S]*settings\.local\.json[\s\S]*\n {2}far {2}\w+/);
    const stored = JSON.parse(readFileSync(join(cwd, '.toolplane', 'settings.local.json'), 'utf8'));
    expect(stored.mcpServers).toEqual({ far: { url: 'http://127.0.0.1:9/mcp' } });
    terminal.type('/mcp disable far\r');
    await terminal.shows('Server far disabled for this session.');
    terminal.type(CTRL_D);
    await terminal.closed;
  });

  test.each([
    [[], 1],
    [['--no-bell'], 0],
  ])('a question rings the bell once, unless flags %j', async (flags, bells) => {
    const { terminal } = openChat([{ tool: 'Bash', input: { command: 'expr hi' } }, 'ok'], { flags });
    await terminal.shows('›');
    terminal.type('go\r');
    await terminal.shows(/\nallow\?$/);
    terminal.type('n\r');
    await terminal.shows(/ok\n─/);
    // The notification ends with the same character as the bell.
    expect(terminal.printed.split('\u001b]9;Toolplane: Approval required\u0007\u0007')).toHaveLength(
      1 + bells,
    );
    expect(terminal.printed.split('\u0007')).toHaveLength(1 + 2 * bells);
    terminal.type(CTRL_D);
    await terminal.closed;
  });

  test('--plain prints linear text without escape sequences', async () => {
    const { terminal } = openChat([{ tool: 'Bash', input: { command: 'expr hi' } }, MARKDOWN], {
      flags: ['--plain'],
    });
    await terminal.until('› ');
    terminal.type('go\n');
    await terminal.until('allow? ');
    terminal.type('y\n');
    await terminal.until('const answer = 42; // the answer');
    await terminal.until('› ');
    terminal.type(CTRL_D);
    await terminal.closed;
    expect(terminal.printed).toContain('# Result');
    expect(terminal.printed).not.toContain(ESC);
  });
});
