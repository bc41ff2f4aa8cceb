const SECRET_NAME =
  /(^|[-_. ])(tokens?|secrets?|passwords?|passwd|passphrase|credentials?|authorization|cookies?|(api|access|private)[-_]?keys?)($|[-_. ])|(token|secret|password|apikey)s?$|(^|[-_. ])(auth|pwd|bearer|callback-url)$/;

/** Names of properties of a secret that are not secret themselves: `apiKeySource`, `token_type`. */
const ABOUT_SECRETS = /[-_. ](source|type|count|limit|usage|mode)s?$/;

/** Members whose every value is private: environment variables and request headers. */
const SECRET_MAPS = new Set(['env', 'headers']);

const NAMES = 'token|secret|password|passwd|pwd|passphrase|api[-_]?key|access[-_]?key|private[-_]?key';

/** Patterns of credentials in free text, with their replacements. */
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----.*?(?:-----END \1-----|$)/gs,
    '-----BEGIN $1-----[redacted]-----END $1-----',
  ],
  [/\b(sk-|gh[pousr]_|github_pat_|xox[abprs]-|glpat-)[\w-]{8,}/g, '$1[redacted]'],
  [/\b(npm_)[A-Za-z0-9]{30,}/g, '$1[redacted]'],
  [/\b(AKIA|ASIA)[A-Z0-9]{12,}/g, '$1[redacted]'],
  [/\b(AIza)[\w-]{30,}/g, '$1[redacted]'],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, 'eyJ[redacted]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]'],
  // A password may contain an @: the last one before the path ends it.
  [/(:\/\/[^\s/:@]*:)[^\s/"<>`]+@/g, '$1[redacted]@'],
  [/([?&;](?:key|auth|sig|signature)=)[^\s&"'#;]+/gi, '$1[redacted]'],
  // An authorization code in the redirect of a sign-in; codes of other things are shorter.
  [/([?&;]code=)[^\s&"'#;]{8,}/g, '$1[redacted]'],
  // A value that begins with a slash is the working directory, PWD.
  [/((?:token|secret|password|passwd|\bpwd(?!=\/)|api[-_]?key)=)[^\s&"',;]+/gi, '$1[redacted]'],
  [new RegExp(`((?:${NAMES})"?\\s*[:=]\\s*")(?:\\\\.|[^"\\\\])+`, 'gi'), '$1[redacted]'],
  // JSON inside a JSON string.
  [new RegExp(`((?:${NAMES})\\\\+"\\s*:\\s*\\\\+")[^"\\\\]+`, 'gi'), '$1[redacted]'],
  [new RegExp(`((?:${NAMES})'?\\s*[:=]\\s*')[^']+`, 'gi'), '$1[redacted]'],
  [/((?:password|passwd|passphrase|api[-_]?key):\s*)[^\s"',;&}\\]+/gi, '$1[redacted]'],
];

/** JSON text of a value with secrets masked: by key name, by shape, and all of `env` and `headers`. Numbers are kept, such as token counts. */
export function redactedJson(value: unknown): string {
  return JSON.stringify(value, (key, member: unknown) => {
    if (typeof member === 'bigint') return String(member);
    if (SECRET_MAPS.has(key) || isSecretName(key)) return maskTexts(member);
    return typeof member === 'string' ? redactText(member) : member;
  });
}

/** Masks what looks like a credential inside free text. */
export function redactText(text: string): string {
  return SECRET_TEXT.reduce((masked, [pattern, rest]) => masked.replace(pattern, rest), text);
}

function isSecretName(key: string): boolean {
  const name = key.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return SECRET_NAME.test(name) && !ABOUT_SECRETS.test(name);
}

function maskTexts(value: unknown): unknown {
  if (typeof value === 'string') return '[redacted]';
  if (Array.isArray(value)) return value.map(maskTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskTexts(member)]));
}
/** Whether the name of an environment variable suggests a credential; errs on the side of yes. */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL.test(name);
}

const CREDENTIAL =
  /KEY(?!BOARD|WORD)|TOKEN(?!I[SZ]E)|SECRET|PASS(?!IVE|ENGER|THROUGH)|PASSWD|CREDENTIAL|COOKIE|BEARER|AUTH(?!OR)|(^|_)(JWT|PAT|PIN|DSN|SIG|CREDS?)(_|$)|.PWD$/i;
