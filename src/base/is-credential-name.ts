/** Whether a variable's name says that nobody else may see its value; too many rather than too few. */
export function isCredentialName(name: string): boolean {
  return CREDENTIAL.test(name);
}

const CREDENTIAL =
  /KEY(?!BOARD|WORD)|TOKEN(?!I[SZ]E)|SECRET|PASS(?!IVE|ENGER|THROUGH)|PASSWD|CREDENTIAL|COOKIE|BEARER|AUTH(?!OR)|(^|_)(JWT|PAT|PIN|DSN|SIG|CREDS?)(_|$)|.PWD$/i;
