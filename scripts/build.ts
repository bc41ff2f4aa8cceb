// npm run build: builds dist/ as it is published. JavaScript is bundled; declarations are emitted by the compiler.
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { bundle } from './bundle.ts';
import { pruneDeclarations } from './declarations.ts';
import { licenseTexts } from './licenses.ts';
import { bin, ROOT, step } from './step.ts';

const dist = `${ROOT}dist`;
rmSync(dist, { recursive: true, force: true });
// The V8 compile cache of earlier builds; see `src/cli/main.ts`.
rmSync(`${ROOT}node_modules/.cache/toolplane`, { recursive: true, force: true });

const isCompiled = step('declarations', bin('tsc'), ['-p', 'tsconfig.build.json']);
if (isCompiled) {
  pruneDeclarations(dist);
  const packages = await bundle(dist);
  writeFileSync(`${dist}/THIRD-PARTY-LICENSES`, licenseTexts(packages));
  chmodSync(`${dist}/cli/main.js`, 0o755);
}
process.exitCode = isCompiled ? 0 : 1;
