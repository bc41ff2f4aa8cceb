import { isRecord } from '../../base/json-value.ts';
import type { ContentAnnotations, Icon } from '../../protocol/mcp.ts';
import {
  dropInvalidMembers,
  ICONS,
  jsonError,
  type MemberRules,
  NUMBER,
  OBJECT,
  type SizeBudget,
  TEXT,
} from './parse-entry.ts';
import type { ReadEntry } from './read-list.ts';

type Described = {
  /** Its address, if it has no name. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: ContentAnnotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
};

/** Something a server lets others read; what the protocol does not know of it is kept. */
export type Resource = Described & {
  readonly uri: string;
  /** In bytes, as the server says. */
  readonly size?: number;
};

/** Many resources at once: an address with parts to fill in (RFC 6570). */
export type ResourceTemplate = Described & { readonly uriTemplate: string };

/** Reads one entry of `resources/list`; it is known by its `uri`. */
export function parseResource(value: unknown, room?: SizeBudget): ReadEntry<Resource> {
  return readAddressed<Resource>(value, 'uri', room);
}

/** Reads one entry of `resources/templates/list`; it is known by its `uriTemplate`. */
export function parseResourceTemplate(value: unknown, room?: SizeBudget): ReadEntry<ResourceTemplate> {
  return readAddressed<ResourceTemplate>(value, 'uriTemplate', room);
}

const OPTIONAL: MemberRules = {
  name: TEXT,
  title: TEXT,
  description: TEXT,
  mimeType: TEXT,
  size: NUMBER,
  annotations: OBJECT,
  icons: ICONS,
  _meta: OBJECT,
};

function readAddressed<T>(value: unknown, member: 'uri' | 'uriTemplate', room?: SizeBudget): ReadEntry<T> {
  if (!isRecord(value)) return { fault: 'it is no object' };
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
