import type { Sandbox } from './program.ts';

/** Replaces values that differ between runs by placeholders. */
export function normalise(observation: unknown, sandbox: Sandbox): unknown {
  const plain: unknown = JSON.parse(JSON.stringify(observation ?? null));
  return walk(plain, replacements(sandbox));
}

type Replacement = readonly [pattern: RegExp, by: string];

/** Numbers under these names measure the run. */
const MEASURES = /(^|_)(ms|usd|tokens|timestamp)$|^(duration|uptime|pid)|^(time|ttft)\w*ms$/i;

function replacements(sandbox: Sandbox): Replacement[] {
  const root = sandbox.home.replace(/[/\\]home$/, '');
  const slug = root.replace(/[^a-zA-Z0-9]/g, '-');
  return [
    [literal(sandbox.api.url), '<api>'],
    [literal(root), '<root>'],
    [literal(slug), '<root>'],
    [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
    [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
    [/-blob-\d+-\w+/g, '-blob-<name>'],
    [/\b1[6-9]\d{11}\b/g, '<time>'],
    [/(127\.0\.0\.1|localhost):\d+/g, '<loopback>'],
  ];
}

function walk(value: unknown, rules: readonly Replacement[], key = ''): unknown {
  if (typeof value === 'string') return rules.reduce((text, [from, to]) => text.replace(from, to), value);
  if (typeof value === 'number') return MEASURES.test(key) ? '<measure>' : value;
  if (Array.isArray(value)) return value.map((item) => walk(item, rules, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, walk(item, rules, name)]),
  );
}

function literal(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'g');
}
