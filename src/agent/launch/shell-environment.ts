type Environment = Readonly<Record<string, string | undefined>>;

const SECRET = /KEY$|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|CUSTOM_HEADERS$|PRIVATE/i;

/**
 * What commands of tools and hooks inherit: everything but what looks like a secret, since a model reads what they print.
 * `TOOLPLANE_PASS_ENV` names those they need all the same, between commas.
 */
export function shellEnvironment(env: Environment): Environment {
  const passed = new Set((env.TOOLPLANE_PASS_ENV ?? '').split(',').map((name) => name.trim()));
  return Object.fromEntries(Object.entries(env).filter(([name]) => passed.has(name) || !SECRET.test(name)));
}
