import { join } from 'node:path';
import { ROOT } from '../../../scripts/step.ts';

/** The package as `build-package.ts` made it: the bundle starts several times as fast as the sources. */
export const PACKAGE = join(ROOT, 'node_modules/.cache/toolplane-test');

/** The command, to be run by Node. */
export const CLI = join(PACKAGE, 'dist/cli/main.js');

/** The executable that SDKs start. */
export const AGENT = join(PACKAGE, 'bin/toolplane-agent');
