import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { toolResults } from '../../test/support/model-api/model-view.ts';
import { transcribe } from '../observe.ts';
import { options, type Sdk, type World } from '../program.ts';

const bash = (command: string) => toolUse('Bash', { command, description: 'A command' });

export const script = [bash('touch denied'), bash('printenv NAME || echo none'), text('Done.')];

/** A project denies a command although the program allows it; it also has a hook and a variable. */
export async function run(sdk: Sdk, world: World): Promise<unknown> {
  mkdirSync(join(world.cwd, '.claude'));
  const value = {
    permissions: { deny: ['Bash(touch *)'] },
    hooks: {
      PostToolUse: [{ hooks: [{ type: 'command', command: 'echo ran > "$CLAUDE_PROJECT_DIR"/hook' }] }],
    },
    env: { NAME: 'value' },
  };
  writeFileSync(join(world.cwd, '.claude', 'settings.json'), JSON.stringify(value));
  const { settingSources: _, ...rest } = options(world);
  const { messages } = await transcribe(
    sdk.query({ prompt: 'Try.', options: { ...rest, tools: ['Bash'], allowedTools: ['Bash'] } }),
  );
  const [denied, variable] = world.api.requests.flatMap(toolResults);
  return {
    denied,
    ranUnapproved: { variable: variable?.content, isHook: existsSync(join(world.cwd, 'hook')) },
    result: messages.at(-1),
  };
}
