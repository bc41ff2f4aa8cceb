import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type McpPlace, mcpPlace, projectFile, userFile } from './mcp-place.ts';

const A = { command: 'a' };

/** Name and state of every server. */
async function states(place: McpPlace): Promise<string[]> {
  const { stdout } = await place.mcp('list', '--no-connect', '--json');
  const { servers } = JSON.parse(stdout) as { servers: { name: string; state: string }[] };
  return servers.map(({ name, state }) => `${name} ${state}`);
}

test('names are approved and rejected; a change asks again; choices can be forgotten (R169, C18)', async () => {
  const place = mcpPlace();
  place.write(projectFile(place), { mcpServers: { a: A, b: A, c: A } });
  const approved = await place.mcp('approve', 'a', 'b');
  expect(approved).toMatchObject({ code: 0, stderr: '' });
  expect(approved.stdout).toMatch(/^✓ approved a \(project, \.mcp\.json:\d+:\d+\)\n✓ approved b \(/);
  const rejected = await place.mcp('reject', 'b', '--json');
  expect(JSON.parse(rejected.stdout)).toMatchObject({
    approved: [],
    rejected: [{ name: 'b', path: projectFile(place) }],
  });
  expect(await states(place)).toEqual(['a ready', 'b rejected', 'c pending']);
  place.write(projectFile(place), { mcpServers: { a: { command: 'other' }, b: A, c: A } });
  const { stdout } = await place.mcp('list', '--no-connect');
  expect(stdout).toMatch(/^⏸ a .* changed since you approved it: toolplane mcp approve a\n/);
  const reset = await place.mcp('reset-project-choices');
  expect(reset.stdout).toBe(
    `forgot 2 choices about ${place.project}; what it brings along waits for approval again\n`,
  );
  expect(await states(place)).toEqual(['a pending', 'b pending', 'c pending']);
  expect((await place.mcp('reset-project-choices', '--json')).stdout).toContain('"forgotten": 0');
}, 60_000);

test('of a name in several files only the highest entry that waits is approved, and all of them rejected', async () => {
  const place = mcpPlace();
  place.write(join(place.project, '.mcp.json'), { mcpServers: { db: { command: 'far' } } });
  const near = place.write(join(place.project, 'sub/.mcp.json'), { mcpServers: { db: { command: 'near' } } });
  const cwd = join(place.project, 'sub');
  const approve = (...args: string[]) => place.mcpWith({ cwd }, ...args);
  const first = await approve('approve', 'db');
  expect(first.stdout).toMatch(/^✓ approved db \(project, \.mcp\.json:\d+:\d+\)\n$/);
  expect(first.stderr).toMatch(
    /^toolplane: "db" of project, \.\.\/\.mcp\.json:\d+:\d+ is another entry and waits still: toolplane mcp approve shows it\n$/,
  );
  expect(place.json(join(place.home, 'choices.json'))).toMatchObject({
    servers: [{ scope: 'project', path: near, name: 'db', choice: 'approved' }],
  });
  const again = await approve('approve', 'db', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ approved: [{ label: '../.mcp.json' }] });
  expect(JSON.parse((await approve('reject', 'db', '--json')).stdout).rejected).toHaveLength(2);
  const back = JSON.parse((await approve('approve', 'db', '--json')).stdout);
  expect(back).toMatchObject({ approved: [{ label: '.mcp.json', path: near }] });
}, 60_000);

test('a trusted directory above that is no repository any more is told of when choices are forgotten', async () => {
  const place = mcpPlace();
  place.write(join(place.project, 'sub/.mcp.json'), { mcpServers: { a: A } });
  await place.mcp('approve', '--trust-repository');
  rmSync(join(place.project, '.git'), { recursive: true });
  const reset = (cwd: string, ...args: string[]) => place.mcpWith({ cwd }, 'reset-project-choices', ...args);
  const sub = join(place.project, 'sub');
  const { stdout } = await reset(sub);
  expect(stdout).toBe(
    `there were no choices about ${sub}\n! it is in ${place.project}, which is trusted as a whole, so all it brings along counts still: run toolplane mcp reset-project-choices there\n`,
  );
  expect(JSON.parse((await reset(sub, '--json')).stdout)).toMatchObject({ trustedBy: place.project });
  expect((await reset(place.project)).stdout).toMatch(
    /^forgot 1 choice about .* waits for approval again\n$/,
  );
  expect(JSON.parse((await reset(sub, '--json')).stdout)).toEqual({ directory: sub, forgotten: 0 });
}, 60_000);

const SETTINGS = { permissions: { allow: ['Bash(make *)'], deny: ['Read(.env)'] }, env: { A: 'b' } };

test('without a terminal nothing is approved that is not named; --settings and --all name it', async () => {
  const place = mcpPlace();
  place.write(projectFile(place), { mcpServers: { a: A, b: A } });
  place.write(join(place.project, '.toolplane', 'settings.json'), SETTINGS);
  const nobody = await place.mcp('approve', '--json');
  expect(nobody.code).toBe(2);
  const message = expect.stringMatching(
    /^nobody is at a terminal to be asked about a, b, \.toolplane\/settings\.json; /,
  );
  expect(JSON.parse(nobody.stdout)).toEqual({ error: { message } });
  const listed = await place.mcp('list');
  expect(listed.stderr).toBe(
    'toolplane: .toolplane/settings.json is not approved: of it only what forbids counts; toolplane mcp approve\n',
  );
  const settings = await place.mcp('approve', '--settings');
  expect(settings.stdout).toBe('✓ approved the settings of .toolplane/settings.json\n');
  expect(await states(place)).toEqual(['a pending', 'b pending']);
  const all = await place.mcp('approve', '--all', '--json');
  expect(JSON.parse(all.stdout)).toMatchObject({ approved: [{ name: 'a' }, { name: 'b' }], settings: [] });
  expect(await states(place)).toEqual(['a ready', 'b ready']);
  expect(await place.mcp('approve')).toMatchObject({ code: 0, stdout: 'nothing waits for approval\n' });
}, 60_000);

test('no to a settings file is kept until the file changes, and can be taken back', async () => {
  const place = mcpPlace();
  const path = place.write(join(place.project, '.toolplane', 'settings.json'), SETTINGS);
  const rejected = '⏸ rejected the settings of .toolplane/settings.json; of them only what forbids counts\n';
  expect(await place.mcp('reject', '--all')).toMatchObject({ code: 0, stdout: rejected });
  expect((await place.mcp('list')).stderr).not.toContain('.toolplane/settings.json');
  for (const word of ['approve', 'reject']) {
    const { code, stdout } = await place.mcp(word, '--all');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'nothing waits for approval\n' });
  }
  const back = await place.mcp('approve', '--settings');
  expect(back.stdout).toBe('✓ approved the settings of .toolplane/settings.json\n');
  const again = JSON.parse((await place.mcp('reject', '--settings', '--json')).stdout);
  expect(again).toMatchObject({ settings: [], rejectedSettings: [{ scope: 'project', path }] });
  place.write(path, { ...SETTINGS, model: 'other' });
  expect((await place.mcp('list')).stderr).toContain('.toolplane/settings.json is not approved');
}, 60_000);

test('a file of the project that cannot be read is told of, where somebody looks for what it holds', async () => {
  const place = mcpPlace();
  place.write(projectFile(place), '{ "mcpServers": ');
  const { code, stdout, stderr } = await place.mcp('approve');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'nothing waits for approval\n' });
  expect(stderr).toMatch(/^toolplane: \.mcp\.json:\d+:\d+: .*\n$/);
});

test('a trusted repository counts, now and after a change, but for what was rejected', async () => {
  const place = mcpPlace();
  place.write(projectFile(place), { mcpServers: { a: A, b: A } });
  await place.mcp('reject', 'b');
  const trusted = await place.mcp('approve', '--trust-repository');
  expect(trusted.stdout).toBe(
    `✓ trusted: every server, hook, allow rule and variable in ${place.project}, now and after every pull, will count without a question\n`,
  );
  place.write(projectFile(place), { mcpServers: { a: { command: 'other' }, b: A, c: A } });
  expect(await states(place)).toEqual(['a ready', 'b rejected', 'c ready']);
}, 60_000);

test.each<[string, string[], RegExp]>([
  ['a typo', ['approve', 'serve'], /there is no server "serve"; did you mean "server"\?/],
  ['one that needs no approval', ['approve', 'mine'], /"mine" needs no approval: it comes from user, /],
  ['a broken one', ['approve', 'bad'], /"bad" is broken and cannot be approved: \.mcp\.json:\d+:\d+: /],
  ['names and all', ['approve', 'server', '--all'], /name servers, or give --all, not both/],
])('%s is not understood, and nothing is approved', async (_, args, message) => {
  const place = mcpPlace();
  place.write(userFile(place), { mcpServers: { mine: A } });
  place.write(projectFile(place), { mcpServers: { server: A, bad: { command: 3 } } });
  const { code, stderr } = await place.mcp(...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(place.json(join(place.home, 'choices.json'))).toBeUndefined();
});

test.each(['login', 'logout'])(
  '%s says in one line that it comes later, and what works now',
  async (word) => {
    const place = mcpPlace();
    const { code, stdout, stderr } = await place.mcp(word, 'docs');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/comes with a later version .* until then .*(secret:NAME|secret remove)/),
    ]);
  },
);
