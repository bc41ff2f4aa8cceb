import { truncate } from '../../base/text/display-text.ts';
import type { Workspace } from '../../permissions/path.ts';
import type { ListedTool, ToolAnnotations } from '../../protocol/mcp.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import type { FileCheckpoints } from './files/file-checkpoints.ts';
import type { FileMemory } from './files/file-memory.ts';
import type { BackgroundProcesses } from './shell/background-processes.ts';
import type { WakeQueue } from './wake-queue.ts';

/** A built-in tool: its definition and its implementation. Each has a file and a row in `table.ts`. */
export type BuiltIn = {
  readonly listed: ListedTool;
  /** Calls that may run concurrently with other calls although they are not read-only. */
  readonly concurrency?: 'others';
  /** The member of the input that names a file or directory: `realInput` resolves it before permission is decided. */
  readonly pathMember?: string;
  /** The member of the input that names a resource of the server in `server`; an unlisted resource requires approval. */
  readonly uriMember?: string;
  /** Errors that the model can correct are failed outcomes, not rejections. */
  run(
    input: Readonly<Record<string, unknown>>,
    context: BuiltInContext,
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
};

/** The parts of a session that built-in tools use. */
export type BuiltInContext = {
  readonly workspace: Workspace;
  /** Environment of commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False for paths that a deny rule hides from searches. */
  isReadable(path: string): boolean;
  /** The path as the model wrote it, if it was resolved before the call. */
  readonly givenPath?: string;
  /** The files that this conversation has read. */
  readonly files: FileMemory;
  /** Keeps files as they were before a change, if the program may rewind them. */
  readonly checkpoints?: FileCheckpoints | undefined;
  readonly wake: WakeQueue;
  readonly background: BackgroundProcesses;
  /** Connects a server that starts on demand. */
  connect(name: string, signal: AbortSignal): Promise<ConnectOutcome>;
  /** Finds deferred tools and discloses them from the next request on. */
  findTools(query: string, limit: number, signal: AbortSignal): Promise<FoundTools>;
  readonly resources: ResourceReader;
  /** The available sub-agents, for `Task`. */
  readonly agents: Readonly<Record<string, { readonly description: string }>>;
  /** Runs a sub-agent and returns its last message. */
  delegate(request: Delegation, signal: AbortSignal): Promise<ToolOutcome>;
};

/** The outcome of connecting. `tools` are the pool names from the next request on, `searchable` how many are deferred. */
export type ConnectOutcome =
  | { readonly kind: 'connected'; readonly tools: readonly string[]; readonly searchable?: number }
  | { readonly kind: 'already-connected' }
  | { readonly kind: 'unknown'; readonly available: readonly string[] }
  | { readonly kind: 'failed'; readonly fault: string };

/** The result of a tool search, with pool names. */
export type FoundTools = {
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly isDisclosed: boolean;
  }[];
  /** Requested names that do not exist, with suggestions. */
  readonly unknown: readonly UnknownName[];
  readonly unknownServer?: UnknownName;
  /** The number of deferred tools. */
  readonly searchable: number;
  readonly servers: readonly string[];
  /** Servers that can be connected. */
  readonly waiting: readonly string[];
};

type UnknownName = { readonly name: string; readonly suggestion?: string };

/** Lists and reads the resources of servers. */
export type ResourceReader = {
  list(server: string | undefined, signal: AbortSignal): Promise<ResourceLists | { readonly fault: string }>;
  /** Never rejects: a failure is a failed outcome. */
  read(server: string, uri: string, signal: AbortSignal): Promise<ToolOutcome>;
};

export type ResourceLists = {
  readonly resources: readonly ListedResource[];
  readonly templates: readonly ListedResource[];
  /** One line for each server that could not list its resources. */
  readonly faults: readonly string[];
};

/** A resource or a resource template, with its server. */
export type ListedResource = {
  readonly server: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
};

export type Delegation = {
  readonly description: string;
  readonly prompt: string;
  readonly type: string;
  readonly model?: string;
};

/** A built-in tool as its file declares it; `required` and `optional` define schema, validation and input type. */
type BuiltInDefinition<R extends Members, O extends Members> = {
  readonly name: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly required: R;
  readonly optional: O;
  readonly concurrency?: 'others';
  readonly pathMember?: keyof (R & O) & string;
  readonly uriMember?: keyof (R & O) & string;
  /** May reject with system errors, and with any error after the signal is aborted. */
  run(input: InputOf<R, O>, context: BuiltInContext, signal: AbortSignal): Promise<ToolOutcome>;
};

/** Creates a built-in tool. Invalid input, system errors and aborts become failed outcomes of one line. */
export function defineBuiltIn<const R extends Members, const O extends Members>(
  definition: BuiltInDefinition<R, O>,
): BuiltIn {
  const {
    name,
    description,
    annotations,
    required,
    optional,
    concurrency: beside,
    pathMember,
    uriMember,
    run,
  } = definition;
  const inputSchema = {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
  return {
    listed: { name, description, inputSchema, annotations },
    ...(beside && { concurrency: beside }),
    ...(pathMember && { pathMember }),
    ...(uriMember && { uriMember }),
    async run(input, context, signal) {
      const fault = inputFault(input, required, optional);
      if (fault !== undefined) return failedOutcome(`${name}: ${fault}`);
      try {
        signal.throwIfAborted();
        return await run(input as InputOf<R, O>, context, signal);
      } catch (thrown) {
        if (signal.aborted) return failedOutcome(`${name} was interrupted`);
        const refusal = systemFault(thrown);
        if (refusal === undefined) throw thrown;
        return failedOutcome(refusal);
      }
    },
  };
}

/** One parameter of a tool, in the JSON Schema keywords that `inputFault` supports. */
type Member = {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minLength?: 1;
  readonly minimum?: number;
  readonly maximum?: number;
};

export type Members = Readonly<Record<string, Member>>;

/** The type of an input that `inputFault` accepts. */
type InputOf<R extends Members, O extends Members> = {
  readonly [K in keyof R]: ValueOf<R[K]>;
} & { readonly [K in keyof O]?: ValueOf<O[K]> };

type ValueOf<M extends Member> = M extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : { string: string; boolean: boolean; integer: number; number: number }[M['type']];

/** The first error of an input, in one line; undefined for a valid input. */
export function inputFault(
  input: Readonly<Record<string, unknown>>,
  required: Members,
  optional: Members,
): string | undefined {
  const members = { ...required, ...optional };
  for (const name of Object.keys(required)) {
    if (input[name] === undefined) return `"${name}" is missing: ${expected(members[name] as Member)}`;
  }
  for (const [name, value] of Object.entries(input)) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (!member) return `unknown parameter "${name}": expected ${Object.keys(members).join(', ')}`;
    if (value !== undefined && !accepts(member, value)) {
      return `"${name}" must be ${expected(member)}, not ${briefValue(value)}`;
    }
  }
  return undefined;
}

function accepts(member: Member, value: unknown): boolean {
  switch (member.type) {
    case 'string':
      if (typeof value !== 'string' || value.length < (member.minLength ?? 0)) return false;
      return member.enum?.includes(value) ?? true;
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value) && isWithin(member, value as number);
    case 'number':
      return Number.isFinite(value) && isWithin(member, value as number);
  }
}

function isWithin({ minimum = -Infinity, maximum = Infinity }: Member, value: number): boolean {
  return value >= minimum && value <= maximum;
}

function expected({ type, enum: allowed, minLength, minimum, maximum }: Member): string {
  if (allowed) return `one of ${allowed.join(', ')}`;
  if (minLength !== undefined) return 'a non-empty string';
  const kind = type === 'integer' ? 'an integer' : `a ${type}`;
  if (minimum === undefined) return kind;
  return maximum === undefined ? `${kind} of at least ${minimum}` : `${kind} from ${minimum} to ${maximum}`;
}

/** Truncated, because the model knows the value it sent. */
function briefValue(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return truncate(text, 60);
}

/** A system error in one line for the model; undefined for other errors. */
export function systemFault(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') return undefined;
  if (thrown.code === 'ERR_INVALID_ARG_VALUE') return 'A path or command contains an invalid character';
  if (!('syscall' in thrown)) return undefined;
  const what = Object.hasOwn(SENTENCES, thrown.code) ? SENTENCES[thrown.code] : thrown.message;
  return 'path' in thrown && typeof thrown.path === 'string' ? `${what}: ${thrown.path}` : String(what);
}

const SENTENCES: Readonly<Record<string, string>> = {
  E2BIG: 'The command is too long: write it to a file and run the file',
  EACCES: 'Permission denied by the system',
  EEXIST: 'A file with that name already exists',
  EISDIR: 'It is a directory',
  ELOOP: 'The symbolic links form a loop',
  ENAMETOOLONG: 'The name is too long',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on the disk',
  ENOTDIR: 'A parent of the path is not a directory',
  EPERM: 'Operation not permitted by the system',
  EROFS: 'The file system is read-only',
};
