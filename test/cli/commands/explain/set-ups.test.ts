import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { explainPlace, prepare } from '../../../../scripts/docs/explain.ts';
import { SET_UPS } from '../../../../scripts/docs/explain-set-ups.ts';
import { ROOT } from '../../../../scripts/step.ts';
import { runCli } from '../../support/run-cli.ts';

const page = readFileSync(`${ROOT}docs/explain.md`, 'utf8');

test('the page has twelve set-ups', () => {
  expect(SET_UPS).toHaveLength(12);
});

test.each(SET_UPS)('$title: the command prints what the page shows', async (setUp) => {
  using place = explainPlace();
  await prepare(setUp, place);
  const { project: cwd, env } = place;
  const { stdout, stderr } = await runCli(['explain', ...setUp.args], '', { cwd, env });
  const section = page.slice(page.indexOf(`. ${setUp.title}\n`));
  const shown = /```text\n\$ [^\n]*\n(.*?)```/s.exec(section)?.[1];
  expect(place.neutral(stdout)).toBe(shown);
  expect(stderr).toBe('');
  expect(shown).toMatch(/^next: /m);
});
