// The parts of zod 4 that compile the schemas of any copy of zod 4. `zod-schema.ts` evaluates this module at the first
// such schema; the build includes it in the package, so that no installed zod has to be found.
export { $ZodObjectJIT, config, globalRegistry, safeParse, safeParseAsync, toJSONSchema } from 'zod/v4/core';
export { en } from 'zod/v4/locales';
