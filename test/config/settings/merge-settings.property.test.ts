import fc from 'fast-check';
import { expect, test } from 'vitest';
import { approvablePart } from '../../../src/config/approval/approved-content.ts';
import { mergeSettings } from '../../../src/config/settings/merge-settings.ts';
import { SETTINGS_SCOPES, saying, settingsOf } from './source.ts';

const junk = fc.jsonValue({ maxDepth: 2 });
const texts = fc.array(fc.oneof(fc.constantFrom('Bash', 'Read(x)', 'mcp__s', '*'), fc.string(), junk));
const time = fc.oneof(fc.integer(), junk);
const settings = fc.oneof(
  { weight: 1, arbitrary: fc.dictionary(fc.string(), junk) },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        permissions: fc.oneof(
          junk,
          fc.record(
            {
              allow: texts,
              ask: texts,
              deny: texts,
              defaultMode: fc.oneof(fc.constantFrom('plan', 'bypassPermissions'), junk),
              additionalDirectories: texts,
              disableBypassPermissionsMode: fc.oneof(fc.constant('disable'), junk),
            },
            { requiredKeys: [] },
          ),
        ),
        hooks: fc.oneof(
          junk,
          fc.constant({ Stop: [{ hooks: [{ type: 'command', command: 'x' }] }] }),
          fc.record({ Stop: fc.array(fc.record({ hooks: fc.array(junk) })) }),
        ),
        env: fc.oneof(junk, fc.dictionary(fc.string(), fc.oneof(fc.string(), junk))),
        model: fc.oneof(fc.string(), junk),
        timeouts: fc.oneof(junk, fc.record({ callMs: time, idleMs: time, connectMs: time })),
        serverSettings: fc.oneof(
          junk,
          fc.dictionary(
            fc.string(),
            fc.oneof(
              junk,
              fc.record(
                { disabled: fc.boolean(), trust: fc.boolean(), excludeTools: texts, includeTools: texts },
                { requiredKeys: [] },
              ),
            ),
          ),
        ),
      },
      { requiredKeys: [] },
    ),
  },
);
const sources = fc
  .array(fc.tuple(fc.constantFrom(...SETTINGS_SCOPES), settings))
  .map((all) =>
    all
      .toSorted(([a], [b]) => SETTINGS_SCOPES.indexOf(a) - SETTINGS_SCOPES.indexOf(b))
      .map(([scope, value]) => settingsOf(scope, value as Record<string, unknown>)),
  );

test('any settings can be merged, and every fault has a file and a key', () => {
  fc.assert(
    fc.property(
      sources,
      fc.constantFrom('new', 'approved', 'changed', 'rejected' as const),
      (all, choice) => {
        const { faults } = mergeSettings(all, saying(choice as 'new'));
        for (const { key, label, message } of faults) {
          expect(key).not.toBe('');
          expect(label).toMatch(/\.json$/);
          expect(message).not.toMatch(/[\n.]$/);
        }
      },
    ),
  );
});

test('an unapproved project file adds no allow rule, hook, variable, directory or setting', () => {
  fc.assert(
    fc.property(sources, fc.constantFrom('project', 'local' as const), settings, (others, scope, value) => {
      const mine = others.filter((it) => it.scope !== 'project' && it.scope !== 'local');
      const hostile = settingsOf(scope as 'local', value as Record<string, unknown>);
      const without = mergeSettings(mine, saying('new')).settings;
      const all = [...mine, hostile].toSorted(
        (a, b) => SETTINGS_SCOPES.indexOf(a.scope) - SETTINGS_SCOPES.indexOf(b.scope),
      );
      const { settings: given } = mergeSettings(all, saying('new'));
      const allows = (it: typeof given) => it.rules.filter(({ effect }) => effect === 'allow');
      expect(allows(given)).toEqual(allows(without));
      for (const member of ['hooks', 'env', 'directories', 'model', 'defaultMode', 'timeouts'] as const)
        expect(given[member]).toEqual(without[member]);
      expect(given.permissions.modes).toEqual(without.permissions.modes);
      const more = given.overrides.filter((it) => it.scope === scope);
      for (const { members } of more) {
        expect(Object.entries({ disabled: true, excludeTools: [], ...members })).toHaveLength(2);
        expect(members.disabled).not.toBe(false);
      }
    }),
  );
});

test('approving content that needs no approval changes nothing', () => {
  fc.assert(
    fc.property(settings, (value) => {
      const source = settingsOf('project', value as Record<string, unknown>);
      fc.pre(approvablePart(source.value) === undefined);
      const [one, other] = (['new', 'approved'] as const).map(
        (choice) => mergeSettings([source], saying(choice)).settings,
      );
      const filled = (it: typeof one) => ({
        ...it,
        pending: [],
        overrides: it?.overrides.map(({ members }) => members).filter((it) => Object.keys(it).length > 0),
      });
      expect(filled(one)).toEqual(filled(other));
    }),
    { numRuns: 50 },
  );
});
