import type { JsonSchema, ListedTool } from '../protocol/mcp.ts';
import { visible } from './pinning/shown.ts';
import type { Origin, PooledTool } from './pool.ts';
import { modelSchema } from './schema/model-schema.ts';
import { openRoot, TOO_LARGE } from './schema/open-root.ts';
import { visibleSchema } from './visible-schema.ts';

/** What a model is told of a tool that does not follow from its definition alone. */
export type Telling = { readonly marks: boolean; readonly alwaysLoad: boolean };

/** One tool under the name it is offered by. */
export function pooled(name: string, origin: Origin, listed: ListedTool, telling: Telling): PooledTool {
  const searchHint = listed._meta?.['anthropic/searchHint'];
  const tool = {
    name,
    origin,
    listed,
    alwaysLoad: telling.alwaysLoad || listed._meta?.['anthropic/alwaysLoad'] === true,
    ...(typeof searchHint === 'string' && { searchHint }),
  };
  // Of thousands of tools a model is told a few: the texts of a tool are put in form when they are first read.
  Object.defineProperty(tool, 'description', telling.marks ? MARKED_DESCRIPTION : DESCRIPTION);
  return Object.defineProperty(tool, 'inputSchema', INPUT_SCHEMA) as PooledTool;
}

/** The same tool under another name. */
export function renamed(tool: PooledTool, name: string): PooledTool {
  const members = Object.getOwnPropertyDescriptors(tool);
  return Object.defineProperties({} as PooledTool, { ...members, name: { ...members.name, value: name } });
}

type Lazy = PropertyDescriptor & ThisType<PooledTool>;

const DESCRIPTION: Lazy = {
  enumerable: true,
  get() {
    return descriptionOf(this.listed);
  },
};

const MARKED_DESCRIPTION: Lazy = {
  enumerable: true,
  get() {
    const { annotations } = this.listed;
    const marks = [
      descriptionOf(this.listed),
      annotations?.readOnlyHint === true ? '(readOnly)' : '',
      annotations?.destructiveHint === true ? '(destructive)' : '',
    ];
    return marks.filter((part) => part !== '').join(' ');
  },
};

const INPUT_SCHEMA: Lazy = {
  enumerable: true,
  get() {
    return schemaOf(this.listed);
  },
};

// A definition that stays is put in form once, whichever pools it is in.
const descriptions = new WeakMap<ListedTool, string>();
const schemas = new WeakMap<ListedTool, JsonSchema>();

/** What people cannot see, a model is not told. */
function descriptionOf(listed: ListedTool): string {
  let description = descriptions.get(listed);
  if (description === undefined) {
    description = visible(listed.description ?? '');
    descriptions.set(listed, description);
  }
  return description;
}

function schemaOf(listed: ListedTool): JsonSchema {
  let schema = schemas.get(listed);
  if (schema === undefined) {
    schema = formOf(listed.inputSchema);
    schemas.set(listed, schema);
  }
  return schema;
}

/** Whatever a server declares, the other tools are still told: what cannot be put in form takes any arguments. */
function formOf(schema: JsonSchema): JsonSchema {
  try {
    return visibleSchema(modelSchema(schema));
  } catch {
    return openRoot(undefined, TOO_LARGE);
  }
}
