import { isRecord } from '../../../base/is-record.ts';
import { literalText } from '../../expand/template.ts';

/** Puts the plugin's directory in for the variables that stand for it, in every text of an entry. */
export function withPluginRoot<T>(value: T, directory: string): T {
  const literal = literalText(directory);
  const put = (it: unknown): unknown => {
    if (typeof it === 'string') return it.replaceAll(ROOT, () => literal);
    if (Array.isArray(it)) return it.map(put);
    if (!isRecord(it)) return it;
    return Object.fromEntries(Object.entries(it).map(([name, member]) => [name, put(member)]));
  };
  return put(value) as T;
}

/** What stands after `$$` is meant literally. */
const ROOT = /(?<!\$)\$\{(?:TOOLPLANE|CLAUDE)_PLUGIN_ROOT\}/g;
