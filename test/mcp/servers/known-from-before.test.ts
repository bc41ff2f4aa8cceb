import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/mcp/connection/world.ts';
import { fileCatalogue } from '../../../src/mcp/discovery/file-catalogue.ts';
import { Servers } from '../../../src/mcp/servers/servers.ts';
import { everything, testWorld } from '../connection/servers.ts';

test('the tools of a real server are there before it is, the second time', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'known-'));
  try {
    const entry = { ...everything, env: { TOKEN: 'hunter2' } } as ServerEntry;
    const world = () => testWorld({ catalogue: fileCatalogue(directory) });
    const first = new Servers(world());
    first.add({ all: entry }, 'dynamic');
    await first.listed();
    expect(first.tools.get('all')).toBeUndefined();
    await first.settled();
    const listed = first.tools.get('all') ?? [];
    expect(listed.length).toBeGreaterThan(5);
    await first[Symbol.asyncDispose]();
    const [name = ''] = await readdir(directory);
    expect(await readFile(join(directory, name), 'utf8')).not.toContain('hunter2');

    await using second = new Servers(world());
    second.add({ all: entry }, 'dynamic');
    await second.listed();
    expect(second.all.get('all')).toMatchObject({ isVerified: false, state: { kind: 'pending' } });
    expect(second.tools.get('all')).toEqual(listed.map(({ annotations: _, ...tool }) => tool));
    const connection = await second.target('all')?.connected();
    expect(await connection?.callTool('echo', { message: 'hi' })).toMatchObject({
      content: [{ text: expect.stringContaining('hi') }],
    });
    expect(second.isVerified('all')).toBe(true);
    expect(second.tools.get('all')).toEqual(listed);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
