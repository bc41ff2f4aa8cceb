import { redactText } from '../base/redact.ts';

/** What an entry can be that is dialled. */
const EXTERNAL = ['stdio', 'http', 'sse', 'ws', 'sse-ide', 'ws-ide'];

export function isExternalType(type: unknown): boolean {
  return EXTERNAL.some((it) => it === type);
}

/**
 * What is wrong with a `type` that nobody knows: with what was meant, if others call one of ours so. In a file there is no
 * server of a program.
 */
export function unknownType(type: unknown, place: 'program' | 'file' = 'program'): string {
  const known = `known are ${[...(place === 'program' ? ['sdk'] : []), ...EXTERNAL].join(', ')}`;
  if (typeof type !== 'string') return `its type must be a text, and it is ${kindOf(type)}; ${known}`;
  const word = type
    .slice(0, LONGEST)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '');
  const hint = Object.hasOwn(MEANT, word) ? `; did you mean "${MEANT[word]}"?` : '';
  return `unknown type${isShown(type) ? ` ${JSON.stringify(type)}` : ''}; ${known}${hint}`;
}

const LONGEST = 40;

/** What is long, steers a terminal or looks like a credential is no slip of the pen, and is not for everybody's eyes. */
function isShown(type: string): boolean {
  return type.length <= LONGEST && /^[\x20-\x7e]*$/.test(type) && redactText(type) === type;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** What others call the types. */
const MEANT: Readonly<Record<string, string>> = {
  streamablehttp: 'http',
  httpstream: 'http',
  https: 'http',
  remote: 'http',
  local: 'stdio',
  command: 'stdio',
  websocket: 'ws',
  wss: 'ws',
  httpsse: 'sse',
};
