// The modules that the group `config` measures. They are no package exports, so the benchmark bundles them apart.
export { decideServers } from '../../src/config/approval/choice-store.ts';
export { readConfiguration } from '../../src/config/configuration.ts';
export { configWorld } from '../../src/config/world.ts';
