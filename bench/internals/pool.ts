// The modules that the groups `pool` and `search` measure. They are no package exports, so the benchmark bundles them apart.
export { TOOL_SEARCH } from '../../src/agent/builtins/tool-search.ts';
export { Assembler, assemble } from '../../src/pool/assemble.ts';
export type { Pool } from '../../src/pool/pool.ts';
export { ToolIndex } from '../../src/pool/search/tool-index.ts';
