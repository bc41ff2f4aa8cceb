import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { launch } from '../../../src/agent/launch/launch.ts';
import { memoryLinks } from '../../../src/control/memory-link.ts';
import type { Frame } from '../../../src/protocol/control-frame.ts';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';

/** A session that may run commands, and how many calls a prompt was denied. */
async function started(place: ConfigPlace) {
  place.write(join(place.home, 'settings.json'), { permissions: { allow: ['Bash'] } });
  const { agent, program } = memoryLinks();
  const stop = new AbortController();
  const notes: string[] = [];
  const session = await launch(agent, {
    argv: ['--no-session-persistence', '--tools=Bash', '--model=rehearsal'],
    env: { ...place.env, PATH: process.env.PATH },
    cwd: place.project,
    home: place.userHome,
    version: '1',
    now: () => new Date(),
    note: (line) => void notes.push(line),
    signal: stop.signal,
  });
  onTestFinished(async () => {
    stop.abort();
    await program.close();
    await session.done.catch(() => {});
  });
  const frames = program.frames[Symbol.asyncIterator]();
  const denials = async (): Promise<number> => {
    const content = 'call Bash with {"command": "echo it-ran"}';
    await program.send({ type: 'user', message: { role: 'user', content } } as Frame);
    for (;;) {
      const { value, done } = await frames.next();
      if (done) throw new Error('no result');
      if (value.type === 'result') return (value.permission_denials as unknown[]).length;
    }
  };
  const said = (text: string) =>
    expect.poll(() => notes.filter((it) => it.includes(text)).length, { timeout: 10_000 }).toBe(1);
  return { denials, notes, said };
}

const DENY = { permissions: { deny: ['Bash(echo *)'] } };
const FILES = {
  'managed settings': ({ managed }: ConfigPlace) => join(managed, 'managed-settings.json'),
  'settings of the project': ({ project }: ConfigPlace) => join(project, '.toolplane/settings.json'),
  'local settings': ({ project }: ConfigPlace) => join(project, '.toolplane/settings.local.json'),
};

test.each(Object.entries(FILES))(
  'what %s deny stays denied while they are broken in the middle of an edit, and until they say otherwise',
  async (_, fileOf) => {
    const place = configPlace();
    const path = place.write(fileOf(place), DENY);
    const { denials, said, notes } = await started(place);
    expect(await denials()).toBe(1);
    place.write(path, '{ "permissions": { "deny": ["Ba');
    await said('cannot be read, so what it said before still counts');
    expect(await denials()).toBe(1);
    place.write(path, '');
    await said('is empty, so what it said before still counts');
    expect(await denials()).toBe(1);
    place.write(path, {});
    await expect.poll(denials, { timeout: 10_000 }).toBe(0);
    expect(notes.filter((it) => it.includes('still counts'))).toHaveLength(2);
  },
);

test('managed settings that no session would begin with change nothing in one that runs', async () => {
  const place = configPlace();
  const path = place.write(join(place.managed, 'managed-settings.json'), DENY);
  const { denials, said } = await started(place);
  place.write(path, { permissions: { deny: 'Bash(echo *)' } });
  await said('holds something that no session begins with, so what it said before still counts');
  expect(await denials()).toBe(1);
});
