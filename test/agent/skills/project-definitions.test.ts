import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { definitionRows, definitionsToApprove } from '../../../src/agent/skills/project-definitions.ts';
import { approveSettings } from '../../../src/config/approval/approval-store.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { configPlace } from '../../config/config-place.ts';

test('files of a project that allow or run something are pending until their content is approved', async () => {
  const place = configPlace();
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(place.project, path)), { recursive: true });
    writeFileSync(join(place.project, path), content);
  };
  put('.claude/skills/plain/SKILL.md', 'Text');
  put('.claude/skills/rights/SKILL.md', '---\nallowed-tools: Read\n---\nText');
  put('.toolplane/commands/runs.md', 'Out: !`ls`');
  put('.claude/agents/mode.md', '---\nname: mode\ndescription: d\npermissionMode: acceptEdits\n---\nText');
  const states = async () => {
    const { rows } = definitionRows(await readConfiguration(place.world()));
    return Object.fromEntries(rows.map(({ name, approval }) => [name, approval]));
  };
  const pending = { plain: undefined, rights: 'pending', runs: 'pending', mode: 'pending' };
  expect(await states()).toEqual(pending);
  for (const source of definitionsToApprove(await readConfiguration(place.world())))
    approveSettings(place.home, source);
  expect(await states()).toEqual({ ...pending, rights: 'approved', runs: 'approved', mode: 'approved' });
  put('.claude/skills/rights/SKILL.md', '---\nallowed-tools: Bash\n---\nText');
  expect(await states()).toMatchObject({ rights: 'pending', runs: 'approved' });
});
