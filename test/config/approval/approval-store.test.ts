import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { configPlace } from '../config-place.ts';

const CHOOSE = fileURLToPath(new URL('fixtures/choose.ts', import.meta.url));

test('concurrent processes lose no decision', async () => {
  const { home, project, write } = configPlace();
  const path = write(join(project, '.mcp.json'), {});
  const [who, count] = [['a', 'b', 'c'], 15];
  const codes = await Promise.all(
    who.map(async (name) => {
      const child = spawn(process.execPath, [CHOOSE, home, path, name, String(count)], { stdio: 'inherit' });
      return (await once(child, 'exit'))[0];
    }),
  );
  expect(codes).toEqual([0, 0, 0]);
  const file = JSON.parse(readFileSync(join(home, 'choices.json'), 'utf8'));
  expect(new Set(file.servers.map((it: { name: string }) => it.name)).size).toBe(who.length * count);
  expect(new Set(file.settings.map((it: { path: string }) => it.path)).size).toBe(who.length * count);
  expect(readdirSync(home)).toEqual(['choices.json']);
});
