import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { latestTexts } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

export const script = [
  toolUse('Agent', {
    description: 'find it',
    prompt: 'Find.',
    subagent_type: 'finder',
    run_in_background: false,
  }),
  text('Found.'),
  toolUse('Skill', { skill: 'plug:ps' }),
  toolUse('Skill', { skill: 'hello' }),
  text('Done.'),
];

/** Kinds of sub-agents, an output style and a plugin, all from files; the program selects some skills. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  write(sandbox.cwd, {
    '.claude/agents/deep/finder.md':
      '---\nname: finder\ndescription: Finds\ntools: Read, Grep\nmodel: haiku\nskills: hello\n---\n\nYou find things.\n',
    '.claude/agents/bad.md': '---\ndescription: No name\n---\nx\n',
    '.claude/skills/hello/SKILL.md': '---\ndescription: Says hello\n---\nHello.\n',
    '.claude/output-styles/pirate.md': '---\nname: Pirate\ndescription: Arr\n---\n\nTalk like a pirate.\n',
    'plug/.claude-plugin/plugin.json': '{"name":"plug","version":"1.0.0"}',
    'plug/commands/pc.md': '---\ndescription: A command\n---\nPC $ARGUMENTS\n',
    'plug/skills/ps/SKILL.md': '---\ndescription: A skill\n---\nPS ${CLAUDE_PLUGIN_ROOT}\n',
    'plug/agents/pa.md': '---\nname: pa\ndescription: An agent\n---\nPA\n',
  });
  write(sandbox.home, {
    '.claude/agents/finder.md': '---\nname: finder\ndescription: Of the user\n---\nUser.\n',
  });
  const query = sdk.query({
    prompt: '/plug:pc a b',
    options: {
      ...options(sandbox),
      settingSources: ['user', 'project'],
      tools: ['Agent', 'Skill', 'Read', 'Grep'],
      settings: { outputStyle: 'Pirate' },
      skills: ['plug:ps'],
      plugins: [{ type: 'local', path: join(sandbox.cwd, 'plug') }],
    },
  });
  const { available_output_styles: styles, output_style: style } = await query.initializationResult();
  const agents = await query.supportedAgents();
  const seen: unknown[] = [];
  for await (const message of query) {
    if (message.type === 'system' && message.subtype === 'init')
      seen.push({
        style: message.output_style,
        agents: message.agents?.filter((it) => it !== 'statusline-setup'),
        plugins: message.plugins
          .filter(({ name }) => name === 'plug')
          .map(({ name, path }) => ({ name, path })),
      });
    if (message.type === 'user' && message.parent_tool_use_id === null)
      seen.push({ isSynthetic: message.isSynthetic, result: commandName(message.tool_use_result) });
    if (message.type === 'result') seen.push(message.subtype);
  }
  const { requests } = sandbox.api;
  return {
    styles,
    style,
    agents: agents
      .filter(({ name }) => /^(?:finder|plug:pa)$/.test(name))
      .map(({ name, description, model }) => ({ name, description, model })),
    seen,
    said: requests.map((request) =>
      latestTexts(request)
        .filter((it) => !it.startsWith('<system-reminder>'))
        .map((it) => it.trimEnd()),
    ),
    tools: requests[1]?.tools?.map(({ name }) => name).sort(),
    hasStyle: JSON.stringify(requests[0]?.messages).includes('# Output Style: Pirate\\nTalk like a pirate.'),
    isNarrowed: !JSON.stringify(requests[0]?.messages).includes('- hello: Says hello'),
  };
}

function commandName(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const { commandName: name, agentType } = result as Record<string, unknown>;
  return { name, agentType };
}

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
