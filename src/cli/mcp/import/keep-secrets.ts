import { isRecord } from '../../../base/json-value.ts';
import { literalSecrets } from '../../../config/explain/mask-entry.ts';
import { secretName } from '../../../config/import/variables.ts';

type Entry = Readonly<Record<string, unknown>>;

/** An entry without the credentials that stood in it, and where they belong. */
export type Kept = {
  readonly entry: Entry;
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
};

/** Takes what looks like a credential out of `env` and `headers`; what else looks like one stays, and is told by others. */
export function keepSecrets(server: string, entry: Entry): Kept {
  const secrets: { name: string; value: string }[] = [];
  const places = literalSecrets(entry);
  const kept = Object.entries(entry).map(([member, value]) => {
    if ((member !== 'env' && member !== 'headers') || !isRecord(value)) return [member, value];
    const map = Object.entries(value).map(([key, text]) => {
      if (typeof text !== 'string' || !places.includes(`${member}.${key}`)) return [key, text];
      // What is in the store is put in as it is: a variable in it would stay a name.
      if (text.replaceAll('$${', '').includes('${')) return [key, text];
      const name = secretName(`${server}-${key}`).slice(0, LONGEST);
      secrets.push({ name, value: text.replaceAll('$${', () => '${') });
      return [key, `\${secret:${name}}`];
    });
    return [member, Object.fromEntries(map)];
  });
  return { entry: Object.fromEntries(kept) as Entry, secrets };
}

const LONGEST = 128;
