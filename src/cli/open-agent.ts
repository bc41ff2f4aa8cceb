import { firstName, placeOf } from '../agent/launch/model-name.ts';
import { realWorld } from '../entry/sdk-world.ts';
import { type AgentClient, createAgentClient } from '../sdk/agent-client.ts';
import type { Options } from '../sdk/options/options.ts';

/** Opens an agent for a command. What warns programmers about their options would only puzzle the user of a command. */
export function openAgent(options: Options): Promise<AgentClient> {
  return createAgentClient({ ...realWorld(), warn: () => {} })(options);
}

/** Why there would be no model, naming the settings that were looked for; `undefined` if there is one. */
export function missingModel(
  options: Pick<Options, 'model' | 'settings' | 'pathToClaudeCodeExecutable'>,
  env: NodeJS.ProcessEnv,
): string | undefined {
  // Another agent looks elsewhere, and settings may name a model and its key: the first turn will tell.
  if (options.pathToClaudeCodeExecutable !== undefined || options.settings !== undefined) return undefined;
  const place = placeOf(firstName(options.model, env.TOOLPLANE_MODEL, env.ANTHROPIC_MODEL), env);
  return place.kind === 'missing' ? place.lookedFor : undefined;
}
