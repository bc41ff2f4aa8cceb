// The modules that the group `config` measures. They are not exported by the package, so the benchmark bundles them separately.
export { decideServers } from '../../src/config/approval/approval-store.ts';
export { configContext } from '../../src/config/config-context.ts';
export { readConfiguration } from '../../src/config/configuration.ts';
