import type { Argument, Option } from 'commander';
import { TRANSPORTS } from '../mcp/add/transport.ts';
import { SCOPE_NAMES } from '../mcp/one-of.ts';

/** What may stand in a place: one of some words, or of what only this machine knows. */
export type Kind =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'servers' | 'secrets' | 'sources' | 'files' | 'directories' | 'nothing' };

/** What the value of a flag may be: what it says itself, else what its name or its placeholder means. */
export function kindOfOption(option: Option): Kind {
  if (option.argChoices) return words(option.argChoices);
  const long = option.long ?? '';
  if (Object.hasOwn(FLAGS, long)) return FLAGS[long] as Kind;
  return byPlaceholder(/[<[]([^>\]]*)/.exec(option.flags)?.[1] ?? '');
}

/** What the argument at this place of a command may be; `path` is such as `mcp get`. */
export function kindOfArgument(path: string, at: number, declared: readonly Argument[]): Kind {
  const argument = declared[at] ?? (declared.at(-1)?.variadic ? declared.at(-1) : undefined);
  if (argument?.argChoices) return words(argument.argChoices);
  const own = Object.hasOwn(ARGUMENTS, path) ? ARGUMENTS[path] : undefined;
  if (own) return own[Math.min(at, own.length - 1)] ?? NOTHING;
  return argument ? byPlaceholder(argument.name()) : NOTHING;
}

const words = (all: readonly string[]): Kind => ({ kind: 'words', words: all });
const NOTHING: Kind = { kind: 'nothing' };
const SERVERS: Kind = { kind: 'servers' };
const SECRETS: Kind = { kind: 'secrets' };

const FLAGS: Readonly<Record<string, Kind>> = {
  '--scope': words(SCOPE_NAMES),
  '--transport': words(Object.keys(TRANSPORTS)),
  '--setting-sources': words(SCOPE_NAMES),
  '--server': SERVERS,
  '--tools': NOTHING,
};

/** Commands whose arguments say less than is known of them; the last kind stands for all that follow. */
const ARGUMENTS: Readonly<Record<string, readonly Kind[]>> = {
  call: [SERVERS, NOTHING],
  completion: [words(['bash', 'zsh', 'fish']), NOTHING],
  'explain server': [SERVERS, NOTHING],
  'explain timeout': [SERVERS, NOTHING],
  'explain tool': [SERVERS, NOTHING],
  'mcp add': [NOTHING, { kind: 'files' }],
  'mcp approve': [SERVERS],
  'mcp doctor': [SERVERS],
  'mcp get': [SERVERS, NOTHING],
  'mcp import': [{ kind: 'sources' }],
  'mcp login': [SERVERS, NOTHING],
  'mcp logout': [SERVERS, NOTHING],
  'mcp reject': [SERVERS],
  'mcp remove': [SERVERS, NOTHING],
  prompts: [words(['get']), SERVERS, NOTHING],
  resources: [words(['read']), SERVERS, NOTHING],
  secret: [words(['list', 'set', 'remove']), SECRETS, NOTHING],
  tools: [words(['accept']), SERVERS, NOTHING],
};

function byPlaceholder(placeholder: string): Kind {
  if (/^(file|path|module|key\.pem)/.test(placeholder)) return { kind: 'files' };
  if (/^(directory|dir)/.test(placeholder)) return { kind: 'directories' };
  if (placeholder === 'server') return SERVERS;
  return NOTHING;
}
