import { textsOf } from './members.ts';
import { type Part, parseTemplate } from './template.ts';

/** The secrets an entry refers to, also those that only a default does; what is malformed refers to none. */
export function namedSecrets(entry: object): ReadonlySet<string> {
  return new Set(
    textsOf(entry).flatMap(({ text }) => {
      const template = parseTemplate(text);
      return template.kind === 'parts' ? template.parts.flatMap(secretsOf) : [];
    }),
  );
}

function secretsOf(part: Part): string[] {
  if (part.kind === 'secret') return [part.name];
  return part.kind === 'variable' ? (part.otherwise ?? []).flatMap(secretsOf) : [];
}
