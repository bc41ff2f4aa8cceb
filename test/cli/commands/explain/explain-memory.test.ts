import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { configPlace } from '../../../config/config-place.ts';
import { runCli } from '../../support/run-cli.ts';

function place(files: Record<string, string>) {
  const { project, userHome, env } = configPlace();
  for (const [name, text] of Object.entries(files)) {
    const path = join(name.startsWith('~/') ? userHome : project, name.replace(/^~\//, ''));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const run = (...args: string[]) => runCli(['explain', 'memory', ...args], '', { cwd: project, env });
  return { run, project, userHome };
}

const FILES = {
  '~/.claude/CLAUDE.md': 'user',
  'CLAUDE.md': `@inside.md @../outside.md ${'x'.repeat(390)}`,
  'inside.md': 'inside',
  '../outside.md': 'outside',
  '.claude/rules/css.md': '---\npaths: "*.css"\n---\nrule',
};

test('lists the files with their tokens, and the ignored ones with the reason', async () => {
  const { run } = place(FILES);
  const { code, stdout, stderr } = await run();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(
    '3 memory files, ~107 tokens, sent before the first prompt:\n  ~/.claude/CLAUDE.md  user, ~1 token',
  );
  expect(stdout).toContain('inside.md  project, ~2 tokens, imported by CLAUDE.md\n');
  expect(stdout).toContain(
    'Sent after a matching file has been read:\n  .claude/rules/css.md  project, ~1 tokens\n    for *.css\n',
  );
  expect(stdout).toMatch(/Ignored:\n {2}.*outside\.md {2}it is outside of .*, imported by CLAUDE\.md\n/s);
  expect(stdout).toMatch(/Auto memory: .*memory\n$/);
});

test('prints the same as JSON, for the sources of the flag', async () => {
  const { run, project } = place(FILES);
  const { stdout } = await run('--json', '--setting-sources', 'project');
  expect(JSON.parse(stdout)).toMatchObject({
    kind: 'memory',
    files: [
      { path: join(project, 'CLAUDE.md'), scope: 'project', tokens: 104 },
      { path: join(project, 'inside.md'), importedBy: join(project, 'CLAUDE.md') },
    ],
    rules: [{ paths: ['*.css'] }],
    ignored: [{ reason: expect.stringContaining('is outside of') }],
  });
});
