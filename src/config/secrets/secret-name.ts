const SECRET_NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,127}$/;

/** Whether a secret can be called so. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** What is said of a name that can be none; it may be a value by mistake, so it is not shown. */
export const NAME_RULE =
  'the name of a secret has letters, digits, "_", "." and, but not first, "-": at most 128 of them';
