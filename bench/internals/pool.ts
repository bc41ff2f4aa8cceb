// The modules that the groups `pool` and `search` measure. They are not exported by the package, so the benchmark bundles them separately.
export { TOOL_SEARCH } from '../../src/agent/builtins/tool-search.ts';
export { Assembler, assemble } from '../../src/pool/assemble.ts';
export type { Pool } from '../../src/pool/pool.ts';
export { ToolIndex } from '../../src/pool/search/tool-index.ts';
