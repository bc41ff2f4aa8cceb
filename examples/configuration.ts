// Use the machine's configuration in a program: read it, explain it, run it, and follow changes of the files.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, loadConfiguration } from 'toolplane/host';
import { serve } from './servers/start.ts';

const home = mkdtempSync(join(tmpdir(), 'toolplane-example-'));
const project = join(home, 'shop');
const write = (path: string, content: object) => writeFileSync(path, JSON.stringify(content, null, 2));
mkdirSync(join(project, '.git'), { recursive: true });
mkdirSync(join(home, '.toolplane'));
write(join(home, '.toolplane/settings.json'), { mcpServers: { docs: serve('docs.ts') } });
write(join(project, '.mcp.json'), { mcpServers: { deploy: serve('deploy.ts') } });

{
  // #region load
  const configuration = await loadConfiguration({
    cwd: project,
    env: { PATH: process.env.PATH, HOME: home },
  });
  for (const { name, scope, label, state } of configuration.servers) {
    console.log(`${name}: ${state}, ${scope} ${label}`);
  }
  console.log(configuration.explain('deploy').answer);
  // #endregion

  // #region run
  await using host = createHost({ configuration });
  await host.ready();
  for (const [name, { state }] of Object.entries(host.status())) console.log(`${name} is ${state}`);
  // #endregion

  // #region follow
  const changed = new Promise<void>((resolve) => {
    host.events.on((event) => {
      if (event.type !== 'configured') return;
      console.log(`added ${event.added}; removed ${event.removed}`);
      resolve();
    });
  });
  // The file changes: unchanged servers keep their connections.
  const mcpServers = { docs: serve('docs.ts'), library: serve('library.ts') };
  write(join(home, '.toolplane/settings.json'), { mcpServers });
  await changed;
  await host.ready({ servers: ['library'] });
  // #endregion
  const { docs, library, deploy } = host.status();
  assert.deepEqual(
    [docs, library, deploy].map((it) => it?.state),
    ['connected', 'connected', 'disabled'],
  );
}
rmSync(home, { recursive: true });
