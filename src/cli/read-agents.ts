import { isRecord } from '../base/json-value.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { AgentDefinition } from '../sdk/options/options.ts';
import { readJsonFlag } from './json-flag.ts';

/** The sub-agents of `--agents`: the path of a file, or a JSON text. An agent leaves out what it cannot read, so that is told here. */
export function readAgents(given: string): Record<string, AgentDefinition> {
  const { value, where } = readJsonFlag('--agents', given, 'bad-option');
  if (!isRecord(value)) throw new SdkError('bad-option', `${where}: it must be an object of agents by name`);
  for (const [name, agent] of Object.entries(value)) {
    const missing = NEEDED.find((key) => !isRecord(agent) || typeof agent[key] !== 'string');
    if (missing) throw new SdkError('bad-option', `${where}: agent "${name}" needs "${missing}", a string`);
  }
  return value as Record<string, AgentDefinition>;
}

const NEEDED = ['description', 'prompt'] as const;
