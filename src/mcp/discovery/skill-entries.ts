import { createHash } from 'node:crypto';
import { isRecord } from '../../base/json-value.ts';
import { parseFrontmatter } from '../../base/text/frontmatter.ts';
import type { ResourceContents } from '../../protocol/mcp.ts';
import type { Connection } from '../connection/connection.ts';
import { parseNamed, type ReadEntry, type SizeBudget } from './read-list.ts';

/** Servers with skills declare this extension (SEP-2640). */
export const SKILLS_EXTENSION = 'io.modelcontextprotocol/skills';

/** A file of a skill: its resource, and the SHA-256 digest and length of its bytes. */
export type SkillFile = { readonly uri: string; readonly digest: string; readonly size: number };

/** A skill that a server offers. */
export type ServerSkill = {
  readonly name: string;
  readonly description: string;
  /** The resource with the text of the skill, its `SKILL.md`. */
  readonly uri: string;
  /** The frontmatter of the text as an object. */
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Every file of the skill; `dynamic` if the server does not announce their content. */
  readonly resources: readonly SkillFile[] | 'dynamic';
};

/** Skill files are resources, so a server needs that capability too. */
export function hasSkills({ capabilities }: Pick<Connection, 'capabilities'>): boolean {
  const { extensions, resources } = capabilities as { extensions?: unknown; resources?: unknown };
  return resources !== undefined && isRecord(extensions) && isRecord(extensions[SKILLS_EXTENSION]);
}

const MAX_FILES = 512;
/** Valid names of skills: at most 64 lower-case letters, digits and single hyphens. */
const NAME = /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Parses one entry of `skills/list`, which must have the digests and sizes of its files or declare them dynamic. */
export function parseServerSkill(listed: unknown, room?: SizeBudget): ReadEntry<ServerSkill> {
  const uri = isRecord(listed) && typeof listed.uri === 'string' ? listed.uri : '';
  // Names may repeat; the address identifies a skill.
  if (uri === '') return { name: '', fault: '"uri" must be a non-empty string' };
  const named = parseNamed(isRecord(listed) ? { ...listed, name: uri } : listed, room);
  if ('fault' in named) return named;
  const { frontmatter, resources } = named.value;
  const fault = (text: string) => ({ name: uri, fault: text });
  if (!isRecord(frontmatter)) return fault('"frontmatter" must be an object');
  const { name, description } = frontmatter;
  if (typeof name !== 'string' || !NAME.test(name))
    return fault('"frontmatter.name" must be a skill name (lower-case letters, digits and hyphens)');
  if (typeof description !== 'string') return fault('"frontmatter.description" must be a string');
  if (!uri.endsWith(`/${name}/SKILL.md`)) return fault(`"uri" must end with "/${name}/SKILL.md"`);
  const skill = { name, description, uri, frontmatter };
  if (resources === 'dynamic') return { item: { ...skill, resources }, name: uri, repairs: [] };
  if (!Array.isArray(resources) || resources.length > MAX_FILES || !resources.every(isSkillFile))
    return fault(
      `"resources" must be "dynamic" or at most ${MAX_FILES} files with "uri", "digest" and "size"`,
    );
  if (!resources.some((it) => it.uri === uri)) return fault('"resources" must include the skill itself');
  const files = resources.map(({ uri, digest, size }) => ({ uri, digest, size }));
  return { item: { ...skill, resources: files }, name: uri, repairs: [] };
}

function isSkillFile(value: unknown): value is SkillFile {
  if (!isRecord(value) || typeof value.uri !== 'string') return false;
  return typeof value.digest === 'string' && DIGEST.test(value.digest) && Number.isInteger(value.size);
}

/** How the contents of a resource differ from what the skills announce for it; undefined if they do not differ. */
export function skillFileError(
  skills: readonly ServerSkill[],
  uri: string,
  contents: readonly ResourceContents[],
): string | undefined {
  const announced = skills.flatMap(({ resources }) =>
    resources === 'dynamic' ? [] : resources.filter((it) => it.uri === uri),
  );
  if (announced.length === 0) return undefined;
  const [content] = contents;
  const [blob, text] = [content && 'blob' in content, content && 'text' in content];
  if (contents.length !== 1 || !content || blob === text)
    return 'the resource must have exactly one content item';
  const bytes = 'text' in content ? Buffer.from(content.text) : Buffer.from(content.blob, 'base64');
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  for (const file of announced) {
    if (bytes.length !== file.size) return `its size is ${bytes.length} bytes instead of ${file.size}`;
    if (digest !== file.digest) return 'its digest differs from the one that the server listed';
  }
  return undefined;
}

/** The text of a skill without its frontmatter, or how the frontmatter differs from the announced one. */
export function skillBody(
  { frontmatter }: Pick<ServerSkill, 'frontmatter'>,
  text: string,
): { readonly body: string } | { readonly fault: string } {
  const parsed = parseFrontmatter(text);
  const found = new Map<string, unknown>([...parsed.fields].map(([name, { value }]) => [name, value]));
  for (const [name, lines] of parsed.nested) found.set(name, nestedFields(lines));
  const names = new Set([...found.keys(), ...Object.keys(frontmatter)]);
  for (const name of names) {
    const isAnnounced = Object.hasOwn(frontmatter, name);
    if (!isAnnounced || !found.has(name) || comparable(found.get(name)) !== comparable(frontmatter[name]))
      return { fault: `the field "${name}" of its frontmatter differs from the announced one` };
  }
  return { body: parsed.body };
}

/** The fields of a map in the frontmatter, such as `metadata`. */
function nestedFields(lines: readonly string[]): Record<string, unknown> {
  const indents = lines.flatMap((line) => (line.trim() === '' ? [] : line.search(/\S/)));
  const own = lines.map((line) => line.slice(Math.min(...indents)));
  const { fields } = parseFrontmatter(['---', ...own, '---'].join('\n'));
  return Object.fromEntries([...fields].map(([name, { value }]) => [name, value]));
}

/** A value as text. Scalars are compared as texts, since `1.0` and `1` are the same number to some parsers. */
function comparable(value: unknown): string {
  if (Array.isArray(value)) return JSON.stringify(value.map(comparable));
  if (isRecord(value)) {
    const members = Object.entries(value).map(([name, it]) => [name, comparable(it)]);
    return JSON.stringify(members.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)));
  }
  return value === null || value === undefined ? '' : String(value).trim();
}
