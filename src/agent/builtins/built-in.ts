import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import type { ApprovalNeed } from '../../permissions/decide.ts';
import type { Workspace } from '../../permissions/path.ts';
import type { ListedTool, ToolAnnotations } from '../../protocol/mcp.ts';
import { failedOutcome, type ToolOutcome } from '../loop/run-calls.ts';
import type { BackgroundTasks } from '../tasks/background-tasks.ts';
import type { FileCheckpoints } from './files/file-checkpoints.ts';
import type { FileMemory } from './files/file-memory.ts';
import type { Services } from './services.ts';
import type { BackgroundProcesses } from './shell/background-processes.ts';
import type { WakeQueue } from './wake-queue.ts';

/** A built-in tool: its definition and its implementation. Each has a file and a row in `table.ts`. */
export type BuiltIn = {
  readonly listed: ListedTool;
  /** Set if calls need no approval unless a rule or mode demands it; the tool changes nothing but the session. */
  readonly approval?: ApprovalNeed;
  /** Calls that may run concurrently with other calls although they are not read-only. */
  readonly concurrency?: 'others';
  /** Whether the call asks the user a question, which channels cannot relay. */
  readonly asksQuestion?: true;
  /** The input with what the session adds to it; hooks, permission prompts and the program get this input. */
  readonly completed?: CompleteInput;
  /** Why a call with valid input is refused without asking anyone; undefined if it is not. */
  readonly refusal?: RefuseInput;
  /** The member of the input that names a file or directory: `realInput` resolves it before permission is decided. */
  readonly pathMember?: string;
  /** The member of the input with a shell command: `certainEffect` determines what it does before permission is decided. */
  readonly commandMember?: string;
  /** Members of the input that hooks and permission prompts get although the model left them out. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** The member of the input that names a resource of the server in `server`; an unlisted resource requires approval. */
  readonly uriMember?: string;
  /** Why a call requires approval although the tool only reads; undefined if it does not. */
  doubt?(input: Readonly<Record<string, unknown>>, services: Services): string | undefined;
  /** The input of a call with numbers and booleans in place of texts that the model wrote for them. */
  converted?(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** The errors of an input, one line each; a call with errors is not made, and no permission is asked for it. */
  faults(input: Readonly<Record<string, unknown>>): readonly string[];
  /** Errors that the model can correct are failed outcomes, not rejections. */
  run(
    input: Readonly<Record<string, unknown>>,
    context: BuiltInContext,
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
};

type CompleteInput = (
  input: Readonly<Record<string, unknown>>,
  services: Services,
) => Readonly<Record<string, unknown>>;

type RefuseInput = (input: Readonly<Record<string, unknown>>, services: Services) => string | undefined;

/** The parts of a session that built-in tools use. */
export type BuiltInContext = {
  readonly workspace: Workspace;
  /** The id of the call. */
  readonly toolUseId: string;
  /** Whether a person was asked about the call and allowed it. */
  readonly isApproved?: boolean;
  /** The background work of the session. */
  readonly tasks: BackgroundTasks;
  /** The file for the output of a task, which the model may read. */
  outputFile(taskId: string): string;
  /**
   * Makes later commands start in the directory in which a command ended. If that is not a working directory, later
   * commands start in the base directory, and a note for the model is returned.
   */
  moveShell(directory: string | undefined): string | undefined;
  /** Environment of commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether searches may read a path: false if a deny rule covers it. */
  isReadable(path: string): boolean;
  /** The path as the model wrote it, if it was resolved before the call. */
  readonly givenPath?: string;
  /** The files that this conversation has read. */
  readonly files: FileMemory;
  /** Keeps files as they were before a change, if the program may rewind them. */
  readonly checkpoints?: FileCheckpoints | undefined;
  readonly wake: WakeQueue;
  /** The services of the session that built-in tools use. */
  readonly services: Services;
  readonly background: BackgroundProcesses;
  /** Connects a server that starts on demand. */
  connect(name: string, signal: AbortSignal): Promise<ConnectOutcome>;
  /** Finds deferred tools and discloses them from the next request on. */
  findTools(query: string, limit: number, signal: AbortSignal): Promise<FoundTools>;
  readonly resources: ResourceReader;
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
  /** Starts or ends notices about changes of a resource; returns why that is not possible. */
  watch(server: string, uri: string, isWatched: boolean, signal: AbortSignal): Promise<string | undefined>;
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

/** A built-in tool as its file declares it; `required` and `optional` define schema, validation and input type. */
type BuiltInDefinition<R extends Members, O extends Members> = {
  readonly name: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly required: R;
  readonly optional: O;
  /** Parameters that are accepted although the schema does not list them. */
  readonly unlisted?: Members;
  readonly approval?: ApprovalNeed;
  /** Every call requires a person, whatever rules and modes allow. */
  readonly needsPerson?: true;
  readonly asksQuestion?: true;
  readonly completed?: CompleteInput;
  readonly refusal?: RefuseInput;
  readonly concurrency?: 'others';
  readonly defaults?: Readonly<Partial<Record<keyof O & string, unknown>>>;
  readonly pathMember?: keyof (R & O) & string;
  readonly commandMember?: keyof (R & O) & string;
  readonly uriMember?: keyof (R & O) & string;
  readonly doubt?: BuiltIn['doubt'];
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
    unlisted = {},
    approval,
    needsPerson,
    asksQuestion,
    completed,
    refusal,
    concurrency: beside,
    defaults,
    pathMember,
    commandMember,
    uriMember,
    doubt,
    run,
  } = definition;
  const inputSchema = {
    type: 'object',
    properties: { ...required, ...optional },
    ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
    additionalProperties: false,
  };
  return {
    listed: {
      name,
      description,
      inputSchema,
      annotations,
      ...(needsPerson && { _meta: { 'anthropic/requiresUserInteraction': true } }),
    },
    ...(asksQuestion && { asksQuestion }),
    ...(completed && { completed }),
    ...(refusal && { refusal }),
    ...(approval && { approval }),
    ...(beside && { concurrency: beside }),
    ...(defaults && { defaults }),
    ...(pathMember && { pathMember }),
    ...(commandMember && { commandMember }),
    ...(uriMember && { uriMember }),
    ...(doubt && { doubt }),
    converted: (input) => convertedInput(input, { ...required, ...optional, ...unlisted }),
    faults: (input) => inputFaults(input, required, { ...optional, ...unlisted }),
    async run(input, context, signal) {
      // Hooks and people may have changed the input.
      const faults = inputFaults(input, required, { ...optional, ...unlisted });
      if (faults.length > 0) return invalidInput(name, faults);
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

/** One parameter of a tool, in the JSON Schema keywords that `inputFaults` supports. */
export type Member = ScalarMember | ListMember | ObjectMember;

type ScalarMember = {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
};

type ListMember = {
  readonly type: 'array';
  readonly description?: string;
  readonly items: Member;
  readonly minItems?: number;
  readonly maxItems?: number;
};

type ObjectMember = {
  readonly type: 'object';
  readonly description?: string;
  readonly properties: Members;
  readonly required: readonly string[];
  /** `true` accepts unknown members. */
  readonly additionalProperties: boolean;
};

export type Members = Readonly<Record<string, Member>>;

/** The type of an input that `inputFaults` accepts. */
type InputOf<R extends Members, O extends Members> = {
  readonly [K in keyof R]: ValueOf<R[K]>;
} & { readonly [K in keyof O]?: ValueOf<O[K]> };

type ValueOf<M> = M extends { readonly type: 'array'; readonly items: infer Item }
  ? readonly ValueOf<Item>[]
  : M extends {
        readonly type: 'object';
        readonly properties: infer P;
        readonly required: readonly (infer Name)[];
      }
    ? { readonly [K in keyof P as K extends Name ? K : never]: ValueOf<P[K]> } & {
        readonly [K in keyof P as K extends Name ? never : K]?: ValueOf<P[K]>;
      }
    : M extends { readonly enum: readonly (infer Word)[] }
      ? Word
      : M extends { readonly type: infer T extends keyof Scalars }
        ? Scalars[T]
        : never;

type Scalars = { string: string; boolean: boolean; integer: number; number: number };

/** The errors of an input, one line each; empty for a valid input. */
export function inputFaults(
  input: Readonly<Record<string, unknown>>,
  required: Members,
  optional: Members,
): string[] {
  const properties = { ...required, ...optional };
  const names = Object.keys(required);
  return objectFaults(
    input,
    { type: 'object', properties, required: names, additionalProperties: false },
    '',
  );
}

function objectFaults(
  input: Readonly<Record<string, unknown>>,
  { properties, required, additionalProperties }: ObjectMember,
  path: string,
): string[] {
  const missing = required.filter((name) => input[name] === undefined);
  return [
    ...missing.map((name) => `The required parameter \`${path}${name}\` is missing`),
    ...Object.entries(input).flatMap(([name, value]) => {
      const member = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (member) return value === undefined ? [] : memberFaults(member, value, `${path}${name}`);
      if (additionalProperties) return [];
      return [`An unexpected parameter \`${path}${name}\` was provided`];
    }),
  ];
}

function memberFaults(member: Member, value: unknown, path: string): string[] {
  if (member.type === 'array' && Array.isArray(value) && accepts(member, value)) {
    return value.flatMap((item, at) => memberFaults(member.items, item, `${path}[${at}]`));
  }
  if (member.type === 'object' && isRecord(value)) return objectFaults(value, member, `${path}.`);
  if (accepts(member, value)) return [];
  const [wanted, given] = [member.type === 'integer' ? 'number' : member.type, typeName(value)];
  return wanted === given
    ? [`The parameter \`${path}\` is invalid: must be ${expected(member)}, not ${briefValue(value)}`]
    : [`The parameter \`${path}\` type is expected as \`${wanted}\` but provided as \`${given}\``];
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The input with numbers and booleans that the model wrote as texts, such as `"5000"`. */
function convertedInput(
  input: Readonly<Record<string, unknown>>,
  members: Members,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(input);
  const converted = entries.map(([name, value]): [string, unknown] => [
    name,
    Object.hasOwn(members, name) ? convertedValue(members[name] as Member, value) : value,
  ]);
  return converted.every(([, value], at) => value === entries[at]?.[1])
    ? input
    : Object.fromEntries(converted);
}

function convertedValue({ type }: Member, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  const isNumber = type === 'number' || type === 'integer';
  return isNumber && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
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
    case 'array': {
      const { minItems = 0, maxItems = Infinity } = member;
      return Array.isArray(value) && value.length >= minItems && value.length <= maxItems;
    }
    case 'object':
      return isRecord(value);
  }
}

function isWithin({ minimum = -Infinity, maximum = Infinity }: ScalarMember, value: number): boolean {
  return value >= minimum && value <= maximum;
}

function expected(member: Member): string {
  if (member.type === 'object') return 'an object';
  if (member.type === 'array') return `a list${range(member.minItems, member.maxItems, ' items')}`;
  const { type, enum: allowed, minLength, minimum, maximum } = member;
  if (allowed) return `one of ${allowed.join(', ')}`;
  if (minLength !== undefined)
    return minLength === 1 ? 'a non-empty string' : `a string of at least ${minLength} characters`;
  const kind = type === 'integer' ? 'an integer' : `a ${type}`;
  if (minimum === undefined) return kind;
  return maximum === undefined ? `${kind} of at least ${minimum}` : `${kind} from ${minimum} to ${maximum}`;
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined && max === undefined) return '';
  if (max === undefined) return ` of at least ${min}${unit}`;
  return min === undefined ? ` of at most ${max}${unit}` : ` of ${min} to ${max}${unit}`;
}

/** The value as JSON, truncated because the model knows what it sent. */
function briefValue(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return truncate(text, 60);
}

/** The result of a call with invalid input, in the form that programs know. */
export function invalidInput(tool: string, faults: readonly string[]): ToolOutcome {
  const issues = faults.length === 1 ? 'issue' : 'issues';
  return failedOutcome(
    `<tool_use_error>InputValidationError: ${tool} failed due to the following ${issues}:\n${faults.join('\n')}</tool_use_error>`,
  );
}

/** A system error in one line for the model; undefined for other errors. */
export function systemFault(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string') return undefined;
  if (thrown.code === 'ERR_INVALID_ARG_VALUE')
    return 'A path or command contains a null character (U+0000); remove it';
  if (!('syscall' in thrown)) return undefined;
  const what = Object.hasOwn(SENTENCES, thrown.code) ? SENTENCES[thrown.code] : thrown.message;
  return 'path' in thrown && typeof thrown.path === 'string' ? `${what}: ${thrown.path}` : String(what);
}

const SENTENCES: Readonly<Record<string, string>> = {
  E2BIG: 'The command is too long: write it to a file and run the file',
  EACCES: 'Permission denied by the system',
  EEXIST: 'A file with that name already exists',
  EISDIR: 'The path is a directory',
  ELOOP: 'The symbolic links form a loop',
  ENAMETOOLONG: 'The name is too long',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on the disk',
  ENOTDIR: 'A parent of the path is not a directory',
  EPERM: 'Operation not permitted by the system',
  EROFS: 'The file system is read-only',
};
