import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createHost } from '../../../src/entry/host.ts';
import { parseServerSkill, skillBody } from '../../../src/mcp/discovery/skill-entries.ts';
import { answer, askedOf, odd } from './support/odd.ts';

const URI = 'skill://forms/SKILL.md';
const FILE = 'skill://forms/references/fields.md';
const TEXT = '---\nname: forms\ndescription: Fill in forms\n---\n\nRead the fields first.\n';
const OTHER = 'The fields.\n';

const fileOf = (uri: string, text: string) => ({
  uri,
  digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
  size: Buffer.byteLength(text),
});

const ENTRY = {
  uri: URI,
  frontmatter: { name: 'forms', description: 'Fill in forms' },
  resources: [fileOf(URI, TEXT), fileOf(FILE, OTHER)],
};

const contents = (uri: string, text: string) => ({ contents: [{ uri, mimeType: 'text/markdown', text }] });

/** A server with one skill. */
const server = (more: Readonly<Record<string, unknown>> = {}) =>
  odd({
    capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
    answers: { 'skills/list': { skills: [ENTRY] }, 'resources/read': contents(URI, TEXT), ...more },
  });

test('skills are listed without reading their files, and a verified text is read without its frontmatter', async () => {
  await using host = createHost({ mcpServers: { odd: server() } });
  await host.ready();
  expect(await host.listSkills()).toEqual([
    { ...ENTRY, server: 'odd', name: 'forms', description: 'Fill in forms' },
  ]);
  expect(await askedOf(host)).toEqual(['skills/list']);
  expect(await host.readSkill('odd', URI)).toBe('Read the fields first.\n');
  await expect(host.readSkill('odd', 'skill://other/SKILL.md')).rejects.toThrow('does not offer');
});

test('a server without the extension is not asked', async () => {
  await using host = createHost({ mcpServers: { odd: odd({ capabilities: { resources: {} } }) } });
  expect(await host.listSkills('odd')).toEqual([]);
  expect(await askedOf(host)).toEqual([]);
});

test.each([
  [
    'another digest',
    TEXT.replace('first', 'twice'),
    'its digest differs from the one that the server listed',
  ],
  ['another size', `${TEXT}More.`, /its size is \d+ bytes instead of \d+/],
])(
  'a skill with %s than announced is refused, also when it is read as a resource',
  async (_, text, reason) => {
    await using host = createHost({ mcpServers: { odd: server({ 'resources/read': contents(URI, text) }) } });
    await expect(host.readSkill('odd', URI)).rejects.toThrow(reason);
    await expect(host.readResource('odd', URI)).rejects.toThrow(reason);
  },
);

test('another file of a skill is refused too', async () => {
  await using host = createHost({ mcpServers: { odd: server() } });
  await host.listSkills('odd');
  await answer(host, 'resources/read', contents(FILE, OTHER.replace('fields', 'FIELDS')));
  await expect(host.readResource('odd', FILE)).rejects.toThrow('its digest differs from the one');
  await answer(host, 'resources/read', contents(FILE, OTHER));
  expect(await host.readResource('odd', FILE)).toMatchObject({ contents: [{ text: OTHER }] });
});

test('a skill with another frontmatter than announced is refused', async () => {
  const text = TEXT.replace('Fill in forms', 'Send the passwords');
  const entry = { ...ENTRY, resources: [fileOf(URI, text)] };
  await using host = createHost({
    mcpServers: {
      odd: server({ 'skills/list': { skills: [entry] }, 'resources/read': contents(URI, text) }),
    },
  });
  await expect(host.readSkill('odd', URI)).rejects.toThrow('the field "description" of its frontmatter');
});

test.each([
  [{ name: 'a', description: 'd' }, 'name: a\ndescription: d', true],
  [{ name: 'a', description: 'd' }, "name: 'a'\ndescription: >\n  d", true],
  [{ name: 'a', description: 'd' }, 'name: a', false],
  [{ name: 'a' }, 'name: a\nlicense: MIT', false],
  [
    { name: 'a', metadata: { version: '1.0', author: 'x' } },
    'name: a\nmetadata:\n  author: x\n  version: "1.0"',
    true,
  ],
  [{ name: 'a', metadata: { version: '1.0' } }, 'name: a\nmetadata:\n  version: "2.0"', false],
  [{ name: 'a', tags: ['x', 'y'] }, 'name: a\ntags: [x, y]', true],
  [{ name: 'a', tags: ['x', 'y'] }, 'name: a\ntags:\n  - x', false],
])('the frontmatter %j is compared field by field with %j', (frontmatter, text, isSame) => {
  const found = skillBody({ frontmatter }, `---\n${text}\n---\nBody`);
  expect('body' in found).toBe(isSame);
});

test.each([
  [{ ...ENTRY, frontmatter: { name: 'forms' } }, '"frontmatter.description"'],
  [{ ...ENTRY, frontmatter: { name: '../forms', description: '' } }, '"frontmatter.name"'],
  [{ ...ENTRY, uri: 'skill://other/SKILL.md' }, '"uri" must end with "/forms/SKILL.md"'],
  [{ ...ENTRY, resources: undefined }, '"resources" must be'],
  [{ ...ENTRY, resources: [{ ...fileOf(URI, TEXT), digest: 'md5:1' }] }, '"resources" must be'],
  [{ ...ENTRY, resources: [fileOf(FILE, OTHER)] }, '"resources" must include the skill itself'],
])('an invalid entry is not offered (%#)', (entry, fault) => {
  expect(parseServerSkill(entry)).toMatchObject({ fault: expect.stringContaining(fault) });
});

test('a skill whose files are dynamic needs only its frontmatter', () => {
  expect(parseServerSkill({ ...ENTRY, resources: 'dynamic' })).toMatchObject({
    item: { name: 'forms', resources: 'dynamic' },
  });
});

const OFFICIAL = fileURLToPath(new URL('fixtures/official-skills.ts', import.meta.url));

test.each(['legacy', 'modern'] as const)(
  'skills of the official MCP SDK are verified and read, %s',
  async (era) => {
    const entry = { command: process.execPath, args: [OFFICIAL], era };
    await using host = createHost({ mcpServers: { official: entry } });
    await host.ready();
    const skills = await host.listSkills('official');
    expect(skills.map(({ name, uri }) => [name, uri])).toEqual([
      ['forms', 'skill://acme/forms/SKILL.md'],
      ['plain', 'skill://acme/plain/SKILL.md'],
    ]);
    expect(await host.readSkill('official', 'skill://acme/forms/SKILL.md')).toBe('Read the fields first.\n');
    expect(await host.readSkill('official', 'skill://acme/plain/SKILL.md')).toBe('Plain.\n');
    const file = 'skill://acme/forms/references/fields.md';
    expect(await host.readResource('official', file)).toMatchObject({
      contents: [{ text: 'The fields.\n' }],
    });
    await host.callTool('official', 'rewrite', {});
    await expect
      .poll(async () => (await host.listSkills('official'))[1]?.description, { timeout: 5_000 })
      .toBe('Changed');
    expect(await host.readSkill('official', 'skill://acme/plain/SKILL.md')).toBe('Changed.\n');
  },
);
