// npm run build: the sources compiled to dist/, and nothing stale beside them.
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { bin, ROOT, step } from './step.ts';

rmSync(`${ROOT}dist`, { recursive: true, force: true });
const isBuilt = step('build', bin('tsc'), ['-p', 'tsconfig.build.json']);
if (isBuilt) {
  chmodSync(`${ROOT}dist/cli/main.js`, 0o755);
  cpSync(`${ROOT}src/pool/search/data`, `${ROOT}dist/pool/search/data`, { recursive: true });
}
process.exitCode = isBuilt ? 0 : 1;
