import { isRecord } from '../../base/json-value.ts';
import { redactedJson, redactText } from '../../base/text/redact.ts';

/** The entry for display: references `${…}` stay, literal values that may be secret are hidden. */
export function maskEntry(raw: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(raw)) return {};
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, maskMember(name, value)]));
}

/** The paths of literal values that look like secrets, such as `env.API_TOKEN`. */
export function literalSecrets(raw: unknown): string[] {
  if (!isRecord(raw)) return [];
  const inMap = (map: string) =>
    Object.entries(isRecord(raw[map]) ? raw[map] : {}).flatMap(([name, value]) =>
      typeof value === 'string' && isSecret(name, value) ? [`${map}.${name}`] : [],
    );
  const plain = ['url', 'command', 'headersHelper'].filter(
    (name) => typeof raw[name] === 'string' && hasSecretText(withoutReferences(raw[name])),
  );
  const args = strings(raw.args);
  const inArgs = args.flatMap((arg, at) =>
    hasSecretText(withoutReferences(arg)) || followsSecretFlag(args, at) ? [`args[${at}]`] : [],
  );
  const token = typeof raw.authToken === 'string' && withoutReferences(raw.authToken).trim() !== '';
  return [
    ...inMap('env'),
    ...inMap('headers'),
    ...inMap('oauth'),
    ...plain,
    ...inArgs,
    ...(token ? ['authToken'] : []),
  ];
}

const HIDDEN = '[hidden]';
const REFERENCE = /\$\{([^{}]*)\}/g;
/** The authentication scheme before a credential in a header. */
const SCHEME = /^(\s*(?:Bearer|Basic|Token)\s+)/i;
const SECRET_FLAG = /^--?[\w-]*(?:token|secret|password|passwd|api-?key|access-?key|private-?key)[\w-]*$/i;
const SECRET_NAME =
  /token|secret|passw|api[-_]?key|access[-_]?key|private[-_]?key|credential|^authorization$|cookie/i;

function maskMember(name: string, value: unknown): unknown {
  if ((name === 'env' || name === 'headers') && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, maskText(text)]));
  }
  if (name === 'authToken') return maskText(value);
  if (name === 'args' && Array.isArray(value)) {
    return value.map((arg, at) => (followsSecretFlag(value, at) ? maskText(arg) : redacted(arg)));
  }
  if (name === 'tls' && isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, maskPem(text)]));
  }
  if (name === 'oauth' && isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, it]) => [key, OAUTH_SECRET.test(key) ? maskText(it) : redacted(it)]),
    );
  }
  return redacted(value);
}

const OAUTH_SECRET = /^(clientSecret|privateKey)$/;

/** Hides everything but the names of references: a default may be secret, too. */
function maskText(value: unknown): unknown {
  if (typeof value !== 'string') return HIDDEN;
  const scheme = SCHEME.exec(value)?.[1] ?? '';
  const rest = value.slice(scheme.length);
  const parts = rest.split(/(\$\{[^{}]*\})/).filter((part) => part !== '');
  return (
    scheme +
    parts
      .map((part) => (part.startsWith('${') && part.endsWith('}') ? withoutDefault(part) : HIDDEN))
      .join('')
  );
}

/** Members that are not expected to be secret: only text that looks like a secret is hidden. */
function redacted(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value.replace(REFERENCE, withoutDefault));
  if (typeof value !== 'object' || value === null) return value;
  return JSON.parse(redactedJson(value));
}

function withoutDefault(reference: string): string {
  return reference.replace(/:-.*\}$/s, ':-…}');
}

function maskPem(value: unknown): unknown {
  return typeof value === 'string' && value.includes('-----BEGIN') ? '[PEM]' : redacted(value);
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.map((it) => (typeof it === 'string' ? it : '')) : [];
}

/** Whether the argument follows a flag such as `--token`. */
function followsSecretFlag(args: readonly unknown[], at: number): boolean {
  const [before, own] = [args[at - 1], args[at]];
  if (typeof before !== 'string' || typeof own !== 'string') return false;
  return SECRET_FLAG.test(before) && !own.startsWith('-') && withoutReferences(own) !== '';
}

function isSecret(name: string, value: string): boolean {
  const literal = withoutReferences(value).replace(SCHEME, '').trim();
  return literal !== '' && (hasSecretText(literal) || (SECRET_NAME.test(name) && literal.length >= 8));
}

function withoutReferences(value: unknown): string {
  return typeof value === 'string' ? value.replace(REFERENCE, '') : '';
}

function hasSecretText(text: string): boolean {
  return redactText(text) !== text;
}
