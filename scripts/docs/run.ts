// npm run docs: updates the generated parts of every page. `-- --check` only lists outdated pages.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ROOT } from '../step.ts';
import { renderPage } from './blocks.ts';
import { PAGES } from './pages.ts';

const { values } = parseArgs({ options: { check: { type: 'boolean' } } });

for (const page of PAGES) {
  const written = readFileSync(`${ROOT}${page}`, 'utf8');
  const made = await renderPage(written);
  if (made === written) continue;
  console.log(`${values.check ? 'outdated' : 'updated'}: ${page}`);
  if (values.check) process.exitCode = 1;
  else writeFileSync(`${ROOT}${page}`, made);
}
if (process.exitCode) console.error('run npm run docs to update them');
