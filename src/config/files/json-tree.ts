import type { JsonNode } from './read-tree.ts';

/** The last of the members of the name, since that is the one that counts. The tree does not change any more. */
export function memberOf(object: JsonNode, name: string): JsonNode | undefined {
  const { children } = object;
  if (children.length <= FEW) return children.findLast((member) => member.value === name);
  const known = indexes.get(object);
  if (known) return known.get(name);
  const index = new Map(children.map((member) => [member.value, member]));
  indexes.set(object, index);
  return index.get(name);
}

/** So many members are looked through as fast as they are put into an index. */
const FEW = 8;

/** Members by name, of objects that somebody asked. */
const indexes = new WeakMap<JsonNode, ReadonlyMap<unknown, JsonNode>>();

/** The value at the end of a way, if there is one. */
export function valueAt(
  root: JsonNode | undefined,
  path: readonly (string | number)[],
): JsonNode | undefined {
  let node = root;
  for (const part of path) node = node && childOf(node, part);
  return node;
}

/** The value that a part of a text stands for; what could not be read is left out. */
export function valueOfNode({ type, value, children }: JsonNode): unknown {
  if (type === 'list') return children.map(valueOfNode);
  if (type !== 'object') return value;
  const members = children.flatMap(({ value: name, children: [it] }) =>
    it ? [[name as string, valueOfNode(it)] as const] : [],
  );
  // A member `__proto__` is an ordinary one here.
  return Object.fromEntries(members);
}

/** A member that is written a second time in the same object. */
export type DuplicateNode = { readonly path: readonly (string | number)[]; readonly offset: number };

/** In the order of the text, so many at most. */
export function findDuplicates(root: JsonNode, most: number): DuplicateNode[] {
  const found: DuplicateNode[] = [];
  const path: (string | number)[] = [];
  look(root);
  return found;

  function look({ type, children }: JsonNode): void {
    const seen = new Set<unknown>();
    for (const [index, child] of children.entries()) {
      if (found.length >= most) return;
      path.push(type === 'object' ? String(child.value) : index);
      if (type === 'object' && seen.has(child.value)) found.push({ path: [...path], offset: child.offset });
      seen.add(child.value);
      const inner = type === 'object' ? child.children[0] : child;
      if (inner) look(inner);
      path.pop();
    }
  }
}

function childOf(node: JsonNode, part: string | number): JsonNode | undefined {
  if (node.type === 'object') return memberOf(node, String(part))?.children[0];
  return node.type === 'list' && typeof part === 'number' ? node.children[part] : undefined;
}
