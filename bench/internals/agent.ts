// The modules that the long conversation of the group `agent` uses. They are not exported by the package, so the benchmark
// bundles them separately.
export { launch } from '../../src/agent/launch/launch.ts';
export { parseFlags } from '../../src/agent/launch/parse-flags.ts';
export type { ModelMessage, ModelRequest } from '../../src/agent/models/model.ts';
export { type MessageReply, replyEvents } from '../../src/agent/models/scripted.ts';
export { memoryLinks } from '../../src/control/memory-link.ts';
