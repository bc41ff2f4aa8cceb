import { isRecord } from '../../base/json-value.ts';
import type { ContentAnnotations, Icon } from '../../protocol/mcp.ts';
import { dropInvalidMembers, jsonError, type MemberRules, RULES, type SizeBudget } from './parse-entry.ts';
import type { ReadEntry } from './read-list.ts';

type Described = {
  /** The address if the server sent no name. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: ContentAnnotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** A resource of a server; unknown members are kept. */
export type Resource = Described & {
  readonly uri: string;
  /** In bytes, as reported by the server. */
  readonly size?: number;
};

/** A URI template for resources (RFC 6570). */
export type ResourceTemplate = Described & { readonly uriTemplate: string };

/** Parses one entry of `resources/list`, identified by its `uri`. */
export function parseResource(value: unknown, room?: SizeBudget): ReadEntry<Resource> {
  return readAddressed<Resource>(value, 'uri', room);
}

/** Parses one entry of `resources/templates/list`, identified by its `uriTemplate`. */
export function parseResourceTemplate(value: unknown, room?: SizeBudget): ReadEntry<ResourceTemplate> {
  return readAddressed<ResourceTemplate>(value, 'uriTemplate', room);
}

const OPTIONAL: MemberRules = {
  name: RULES.text,
  title: RULES.text,
  description: RULES.text,
  mimeType: RULES.text,
  size: RULES.number,
  annotations: RULES.object,
  icons: RULES.icons,
  _meta: RULES.object,
};

function readAddressed<T>(value: unknown, member: 'uri' | 'uriTemplate', room?: SizeBudget): ReadEntry<T> {
  if (!isRecord(value)) return { fault: 'not an object' };
  const address = value[member];
  if (typeof address !== 'string' || address === '') {
    const name = typeof value.name === 'string' && value.name !== '' ? { name: value.name } : {};
    return { ...name, fault: `"${member}" must be a non-empty string` };
  }
  const fault = jsonError(value, room);
  if (fault !== undefined) return { name: address, fault };
  const cleaned = dropInvalidMembers(value, OPTIONAL);
  const isNamed = cleaned.value.name !== undefined;
  const unnamed = value.name === undefined || value.name === null ? ['"name" is missing'] : [];
  return {
    item: (isNamed ? cleaned.value : { ...cleaned.value, name: address }) as T,
    name: address,
    repairs: [...cleaned.repairs, ...unnamed],
  };
}
