import { isRecord } from '../../base/is-record.ts';
import type { ExternalServerEntry } from '../../protocol/server-entry.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { Scope, WrittenServer } from '../model.ts';

/** What an entry says that does not count, and what to tell about it. */
export type Unheard = { readonly member: string; readonly message: string };

/**
 * The entry without what servers from elsewhere cannot say for themselves: whoever approves or installs one lets it run,
 * and no more. What takes away is always heard.
 */
export function heardOf(
  { scope, name }: Pick<WrittenServer, 'scope' | 'name'>,
  entry: ExternalServerEntry,
): { readonly entry: ExternalServerEntry; readonly unheard: readonly Unheard[] } {
  const said: Readonly<Record<string, unknown>> = entry;
  const claims = CLAIMS.filter(
    ({ member, scopes, isClaimed }) =>
      scopes.has(scope) && Object.hasOwn(said, member) && isClaimed(said[member]),
  );
  if (claims.length === 0) return { entry, unheard: [] };
  const heard: Record<string, unknown> = { ...said };
  for (const { member, rest } of claims) {
    if (rest) heard[member] = rest(said[member]);
    else delete heard[member];
  }
  return {
    entry: heard as ExternalServerEntry,
    unheard: claims.map(({ member, told }) => ({
      member,
      message: `a server of a ${scope} cannot ${told(name)}`,
    })),
  };
}

type Claim = {
  readonly member: string;
  /** Where it is not heard. */
  readonly scopes: ReadonlySet<Scope>;
  isClaimed(value: unknown): boolean;
  /** What is left of it. */
  rest?(value: unknown): unknown;
  told(name: string): string;
};

const FROM_ELSEWHERE: ReadonlySet<Scope> = new Set(['project', 'plugin', 'connector']);
/** Nobody here has even seen those. */
const FROM_THE_NETWORK: ReadonlySet<Scope> = new Set(['connector']);

const SAY_SO = 'say so in "serverSettings" of your own settings';
const isTrue = (value: unknown) => value === true;
const isAnything = () => true;

const CLAIMS: readonly Claim[] = [
  {
    member: 'trust',
    scopes: FROM_ELSEWHERE,
    isClaimed: isTrue,
    told: () => `ask to be trusted; if you do, ${SAY_SO}`,
  },
  {
    member: 'required',
    scopes: FROM_ELSEWHERE,
    isClaimed: isTrue,
    told: () => `keep everything from starting without it; if it should, ${SAY_SO}`,
  },
  {
    member: 'tools',
    scopes: FROM_ELSEWHERE,
    isClaimed: (value) => Array.isArray(value) && value.some(allows),
    rest: (value) => (Array.isArray(value) ? value.map(withoutAllowing) : value),
    told: (name) =>
      `allow its own tools; if you do, say so in "permissions.allow" of your own settings, such as "${mcpToolName(name, '')}*"`,
  },
  {
    member: 'connectTimeoutMs',
    scopes: FROM_THE_NETWORK,
    isClaimed: isAnything,
    told: () => `say how long everybody waits for it; if you know, ${SAY_SO}`,
  },
  {
    member: 'maxFrameBytes',
    scopes: FROM_THE_NETWORK,
    isClaimed: isAnything,
    told: () => 'say how much memory it may fill; if you know, name the server in your own settings',
  },
];

function allows(policy: unknown): boolean {
  return isRecord(policy) && policy.permission_policy === 'always_allow';
}

/** What an organisation lets anybody do at most still holds. */
function withoutAllowing(policy: unknown): unknown {
  if (!isRecord(policy) || !allows(policy)) return policy;
  const { permission_policy: _, ...rest } = policy;
  return rest;
}
