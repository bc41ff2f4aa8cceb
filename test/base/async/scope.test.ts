import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Scope } from '../../../src/base/async/scope.ts';

test('closes all resources in reverse order and rethrows the first failure', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('closes', 'throws', 'rejects'), { maxLength: 8 }),
      async (kinds) => {
        const log: number[] = [];
        const scope = new Scope();
        for (const [index, kind] of kinds.entries()) {
          scope.own(index, (it) => {
            log.push(it);
            if (kind === 'throws') throw new Error(String(it));
            return kind === 'rejects' ? Promise.reject(new Error(String(it))) : undefined;
          });
        }
        const told = await scope[Symbol.asyncDispose]().then(
          () => undefined,
          (error: Error) => Number(error.message),
        );
        expect(log).toEqual([...kinds.keys()].reverse());
        const failing = [...kinds.entries()].filter(([, kind]) => kind !== 'closes').map(([index]) => index);
        expect(told).toBe(failing.at(-1));
      },
    ),
  );
});

test('awaits each close before the next', async () => {
  const log: string[] = [];
  {
    await using scope = new Scope();
    scope.own('older', (it) => log.push(`${it} closed`));
    scope.own('newer', async (it) => {
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${it} closed`);
    });
  }
  expect(log).toEqual(['newer closed', 'older closed']);
});

test('kept resources are closed only by their new scope', async () => {
  const log: string[] = [];
  const open = async () => {
    await using scope = new Scope();
    scope.own('it', (it) => log.push(`${it} closed`));
    return scope.keep();
  };
  const kept = await open();
  expect(log).toEqual([]);
  await kept[Symbol.asyncDispose]();
  await kept[Symbol.asyncDispose]();
  expect(log).toEqual(['it closed']);
});

test('own() returns the value', () => {
  expect(new Scope().own('value', () => {})).toBe('value');
});
