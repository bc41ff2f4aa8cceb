import { literalSecrets } from '../../../config/explain/mask-entry.ts';

/** What is said of values that look like secrets and would stand in a file as they are, a line each. */
export function secretAdvice(server: string, entry: Readonly<Record<string, unknown>>): string[] {
  return literalSecrets(entry).map((where) => {
    const name = secretName(server, where);
    return `${where} holds what looks like a secret; to keep it out of the file: toolplane secret set ${name}, and write \${secret:${name}} in its place`;
  });
}

/** A variable keeps its name; anything else is called after its server. */
function secretName(server: string, where: string): string {
  const variable = /^env\.(\w+)$/.exec(where)?.[1];
  if (variable !== undefined) return variable;
  const upper = server.replace(/[^a-zA-Z0-9]+/g, '_').toUpperCase();
  return `${/^[A-Z_]/.test(upper) ? '' : '_'}${upper}_TOKEN`;
}
