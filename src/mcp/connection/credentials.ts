import { isCredentialName } from '../../base/is-credential-name.ts';
import { redactText } from '../../base/redact.ts';

/** The members of a server entry that may hold credentials. */
export type Entrusted = {
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authToken?: string;
  readonly url?: string;
  readonly args?: readonly string[];
};

/**
 * The values of an entry that are credentials: by the name they are given under, or by their shape. Settings such as
 * a mode, a directory or a host name are not: a server may use these words in any message.
 */
export function credentialsOf({ env, headers, authToken, url, args }: Entrusted): string[] {
  const named = [...Object.entries(env ?? {}), ...Object.entries(headers ?? {})];
  return [
    ...(typeof authToken === 'string' ? [authToken] : []),
    ...named.flatMap(([name, value]) => credentialsIn(name, value)),
    ...(url === undefined ? [] : credentialsIn('url', url)),
    ...credentialsOfArgs(args ?? []),
  ];
}

/** Whether a value is too common to be masked in everything a server sends: default passwords, words of the protocol. */
export function isCommonValue(value: string): boolean {
  return /^\d{1,9}$/.test(value) || COMMON_VALUES.has(value.toLowerCase());
}

/** The credentials in one named value: all of it, what a URL carries, or what Basic authentication encodes. */
function credentialsIn(name: string, value: unknown): string[] {
  if (typeof value !== 'string') return [];
  const basic = /^Basic\s+([\w+/=-]+)$/i.exec(value.trim())?.[1];
  const decoded = basic === undefined ? '' : Buffer.from(basic, 'base64').toString();
  const isWhole = isRandom(value) ? !IDENTIFIER_NAME.test(name) : isNamedCredential(name, value);
  return [
    ...(isWhole || redactText(value) !== value ? [value] : []),
    ...credentialsInUrl(value),
    ...(decoded.includes(':') ? [decoded, decoded.slice(decoded.indexOf(':') + 1)] : []),
  ];
}

/** Whether a value is a credential by the name of its variable, header or flag. */
export function isNamedCredential(name: string, value: string): boolean {
  return isCredentialName(name) && !SETTING_NAME.test(name) && !PATH.test(value) && !value.includes('://');
}

/** `--token value`, `--token=value`, `-e TOKEN=value`, `--header "Authorization: value"`. */
function credentialsOfArgs(args: readonly unknown[]): string[] {
  return args.flatMap((arg, at) => {
    if (typeof arg !== 'string') return [];
    const pair = /^-{0,2}([\w.-]+)(?:=|:\s+)(.+)$/s.exec(arg);
    if (pair) return credentialsIn(pair[1] ?? '', pair[2]);
    const before: unknown = args[at - 1];
    const flag = typeof before === 'string' ? /^--?([\w.-]+)$/.exec(before)?.[1] : undefined;
    return arg.startsWith('-') ? [] : credentialsIn(flag ?? '', arg);
  });
}

/** The password of a URL, a key in place of its user, and the parameters that are named as credentials. */
function credentialsInUrl(text: string): string[] {
  if (!text.includes('://') || !URL.canParse(text)) return [];
  const { username, password, searchParams } = new URL(text);
  const parameters = [...searchParams].filter(
    ([name, value]) => isRandom(value) || isNamedCredential(name, value),
  );
  const key = isRandom(username) ? [username] : [];
  return [...key, password, decoded(password), ...parameters.map(([, value]) => value)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether a value contains a long run of mixed characters, as only generated keys do; model names and dates do not. */
function isRandom(value: string): boolean {
  return value
    .split(/[^A-Za-z0-9+=]/)
    .some(
      (run) =>
        (run.length >= 24 && /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run)) ||
        (run.length >= 32 && /^[0-9a-f]+$/i.test(run)),
    );
}

/** Names that mention a credential but hold a setting: `TOKEN_FILE`, `AUTH_MODE`, `PRIMARY_KEY`. */
const SETTING_NAME =
  /(^|[-_.])(file|filename|path|dir|directory|ur[li]|endpoint|host|port|mode|type|method|sock|socket|source|name|level|ttl|length|limit|count|scopes?|region|provider|algorithm|format|prefix|suffix|realm|user|username|audience|issuer|enabled|required|header|field|column|timeout|expiry)$|(^|[-_.])(primary|foreign|sort|partition|group)[-_.]?key$/i;

/** Names of random values that are public. */
const IDENTIFIER_NAME = /(^|[-_.])(id|uuid|sha\d*|hash|commit|digest|revision|version|path|dir)$/i;

const PATH = /^(?:\.{0,2}|~)\/[^+=\s]*$|^[A-Za-z]:[\\/]/;

const COMMON_VALUES: ReadonlySet<string> = new Set(
  [
    'changeme default disabled enabled example optional password postgres required secret secrets test testing',
    'administrator anonymous development guest localhost minioadmin mongodb production rabbitmq redis root',
    'bearer oauth oauth2 api_key apikey api-key token tokens',
    'array boolean content description initialize integer message method number object params properties result string',
  ]
    .join(' ')
    .split(' '),
);
