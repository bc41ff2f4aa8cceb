import { nodeVersionError } from './version.ts';

// Each entry point imports this module first, so that an old Node fails with this message and not with a missing built-in.
const error = nodeVersionError(process.versions);
if (error !== undefined) throw new Error(error);
