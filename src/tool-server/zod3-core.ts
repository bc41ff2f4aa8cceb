// The parts of zod 3 that compile the schemas of any copy of zod 3; see `zod-core.ts`.
export { object } from 'zod/v3';
export { zodToJsonSchema } from 'zod-to-json-schema';
