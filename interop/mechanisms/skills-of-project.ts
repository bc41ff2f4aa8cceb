import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const bash = (command: string) => toolUse('Bash', { command, description: 'A command' });

export const script = [toolUse('Skill', { skill: 'rights' }), bash('touch made && echo ok'), text('Done.')];

/** A skill of the project allows calls: the program is asked about the skill, and not about the calls. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const folder = join(sandbox.cwd, '.claude', 'skills', 'rights');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'SKILL.md'),
    '---\ndescription: Has rights\nallowed-tools: Bash(touch:*), Bash(echo:*)\n---\nText.\n',
  );
  const asked: unknown[] = [];
  const query = sdk.query({
    prompt: 'Go.',
    options: {
      ...options(sandbox),
      settingSources: ['project'],
      tools: ['Skill', 'Bash'],
      canUseTool: async (name, input, { suggestions, displayName }) => {
        asked.push({ name, input, suggestions, displayName });
        return { behavior: 'allow', updatedInput: input };
      },
    },
  });
  const results: unknown[] = [];
  for await (const message of query) if (message.type === 'user') results.push(message.tool_use_result);
  return {
    asked,
    skill: results[0],
    isMade: sandbox.api.requests.flatMap(toolResults).map(({ isError }) => isError),
  };
}
