// The modules that the group `config` measures. They are no package exports, so the benchmark bundles them apart.
export { decideServers } from '../../src/config/approval/approval-store.ts';
export { configContext } from '../../src/config/config-context.ts';
export { readConfiguration } from '../../src/config/configuration.ts';
