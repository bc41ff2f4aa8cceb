import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { readConfiguration } from '../../../src/config/configuration.ts';
import { fileRuleStore } from '../../../src/config/settings/file-rule-store.ts';
import { EMPTY_RULES, type RuleSet } from '../../../src/permissions/rule-store.ts';
import type { CanUseTool } from '../../../src/sdk/callbacks.ts';
import type { Options } from '../../../src/sdk/options.ts';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';
import { collect } from '../../support/collect.ts';
import { calc, drive, results } from '../../support/drive.ts';

const CALL = toolUse('mcp__calc__add', { a: 1, b: 2 }, 't1');
const LOCAL = '.toolplane/settings.local.json';

/** One session whose rules are kept in files; what was asked, noted and came of the call. */
async function session(place: ConfigPlace, initial: RuleSet, options: Options) {
  const notes: string[] = [];
  const note = (told: string) => void notes.push(told);
  const {
    query,
    model,
    session: made,
  } = drive(
    [CALL, text('ok')],
    { mcpServers: { calc: calc() }, ...options },
    {
      ruleStore: fileRuleStore({ world: place.world(), initial, note }),
      workspace: { cwd: place.project, home: place.userHome, directories: [] },
      note,
    },
  );
  await collect(query);
  return { result: results(model.requests[1]).t1, notes, rules: made().world.rules.current().rules };
}

test('"always allow" is offered for the project, written there, and counts in the next session', async () => {
  const place = configPlace();
  const offered: unknown[] = [];
  const canUseTool: CanUseTool = async (_, __, { suggestions = [] }) => {
    offered.push(suggestions);
    return { behavior: 'allow', updatedPermissions: suggestions };
  };
  const first = await session(place, EMPTY_RULES, { canUseTool });
  expect(offered).toEqual([
    [
      {
        type: 'addRules',
        rules: [{ toolName: 'mcp__calc__add' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
    ],
  ]);
  expect(first).toMatchObject({ result: '3', notes: [`noted in ${LOCAL}`] });

  const { settings } = await readConfiguration(place.world());
  const second = await session(place, settings.permissions, { canUseTool });
  expect([second.result, offered.length]).toEqual(['3', 1]);
});

test('without a person’s word no file is written: what a hook adds is for the session', async () => {
  const place = configPlace();
  const { result, rules } = await session(place, EMPTY_RULES, {
    canUseTool: () => new Promise(() => {}),
    hooks: {
      PermissionRequest: [
        {
          hooks: [
            async () => ({
              hookSpecificOutput: {
                hookEventName: 'PermissionRequest',
                decision: {
                  behavior: 'allow',
                  updatedPermissions: [
                    {
                      type: 'addRules',
                      rules: [{ toolName: 'mcp__calc__add' }],
                      behavior: 'allow',
                      destination: 'userSettings',
                    },
                  ],
                },
              },
            }),
          ],
        },
      ],
    },
  });
  expect(result).toBe('3');
  expect(rules.filter(({ tool }) => tool === 'mcp__calc__add')).toEqual([
    { tool: 'mcp__calc__add', effect: 'allow', source: 'session' },
  ]);
  expect([existsSync(join(place.home, 'settings.json')), existsSync(join(place.project, LOCAL))]).toEqual([
    false,
    false,
  ]);
});

test('a rule that is none is told, and nothing is written', async () => {
  const place = configPlace();
  const { notes } = await session(place, EMPTY_RULES, {
    canUseTool: async () => ({
      behavior: 'allow',
      updatedPermissions: [
        { type: 'addRules', rules: [{ toolName: '*' }], behavior: 'allow', destination: 'localSettings' },
      ],
    }),
  });
  expect(notes).toEqual([expect.stringContaining('would allow servers nobody named')]);
  expect(existsSync(join(place.project, LOCAL))).toBe(false);
});

test('a file that cannot be written: the call runs, the rule is for the session, and why is told', async () => {
  const place = configPlace();
  const path = place.write(join(place.project, LOCAL), '{ broken');
  const { result, notes } = await session(place, EMPTY_RULES, {
    canUseTool: async (_, __, { suggestions = [] }) => ({
      behavior: 'allow',
      updatedPermissions: suggestions,
    }),
  });
  expect(result).toBe('3');
  expect(notes).toEqual([expect.stringMatching(/^kept for this session only: .*settings\.local\.json/)]);
  expect(readFileSync(path, 'utf8')).toBe('{ broken');
});
