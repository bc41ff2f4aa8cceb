import { FOREIGN_TOOLS } from '../../config/import/programs.ts';
import type { Word } from './next-words.ts';

/** The programs whose servers can be imported. */
export function sourceWords(): Word[] {
  return FOREIGN_TOOLS.map(({ id, title }) => ({ word: id, description: title }));
}
