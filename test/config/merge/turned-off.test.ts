import { expect, test } from 'vitest';
import { SCOPES } from '../../../src/config/model.ts';
import { merge, sourceOf, written } from './written.ts';

test.each(SCOPES)(
  'an entry of scope %s that turns itself off is not started, whatever settings say',
  (scope) => {
    const off = { ...written(scope, 'x'), off: 'disabled' as const };
    const overrides = [{ name: 'x', label: 'mine', scope: 'user' as const, members: { disabled: false } }];
    const { servers } = merge([sourceOf(off)], { overrides });
    expect(servers.map(({ verdict }) => verdict)).toEqual([{ kind: 'disabled', label: scope }]);
  },
);

test('it holds its name, and what the policy or a person says of it comes first', () => {
  const off = { ...written('local', 'x'), off: 'enabled' as const };
  const both = [sourceOf(written('user', 'x')), sourceOf(off)];
  expect(merge(both).servers[0]?.verdict).toEqual({ kind: 'disabled', label: 'local' });
  expect(merge(both, { choices: { local: 'new' } }).servers[0]?.verdict).toEqual({ kind: 'ready' });
  const policy = { judge: () => ({ kind: 'forbidden', rule: 'r' }) as const };
  expect(merge(both, { policy }).servers[0]?.verdict).toEqual({ kind: 'blocked', rule: 'r' });
});
