import { globSync } from 'node:fs';
import { ROOT } from '../step.ts';

/** Every documentation page, relative to the checkout. */
export const PAGES: readonly string[] = globSync(['*.md', 'docs/*.md', 'interop/README.md'], {
  cwd: ROOT,
}).toSorted();
