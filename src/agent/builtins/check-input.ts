/** One member of a tool's input, in the words of JSON Schema that `inputFault` knows. */
export type Member = {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  readonly description: string;
  readonly enum?: readonly string[];
  readonly minLength?: 1;
  readonly minimum?: number;
  readonly maximum?: number;
};

export type Members = Readonly<Record<string, Member>>;

/** What an input is once `inputFault` found nothing. */
export type InputOf<R extends Members, O extends Members> = {
  readonly [K in keyof R]: ValueOf<R[K]>;
} & { readonly [K in keyof O]?: ValueOf<O[K]> };

type ValueOf<M extends Member> = M extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : { string: string; boolean: boolean; integer: number; number: number }[M['type']];

/** The first thing wrong with an input, in one line; undefined when it is as the members say. */
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
    if (!member) return `unknown member "${name}": it takes ${Object.keys(members).join(', ')}`;
    if (value !== undefined && !accepts(member, value)) {
      return `"${name}" must be ${expected(member)}, not ${shown(value)}`;
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

function expected({ type, enum: words, minLength, minimum, maximum }: Member): string {
  if (words) return `one of ${words.join(', ')}`;
  if (minLength !== undefined) return 'a string that is not empty';
  const kind = type === 'integer' ? 'an integer' : `a ${type}`;
  if (minimum === undefined) return kind;
  return maximum === undefined ? `${kind} of at least ${minimum}` : `${kind} from ${minimum} to ${maximum}`;
}

/** Short: a model knows what it sent. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
