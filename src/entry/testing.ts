// For users' own tests: an agent they script, offline and deterministic.
import './require-node.ts';

export { ScriptedAgent } from '../control/scripted-link.ts';
export type { Frame } from '../protocol/control-frame.ts';
export { AgentScript, scriptAgent } from '../sdk/testing/agent-script.ts';
