import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { latestTexts, toolResults } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const skill = (name: string, args?: string) => toolUse('Skill', { skill: name, ...(args && { args }) });

export const script = [
  skill('hello', 'Ann "Bob C"'),
  skill('plain', 'x y'),
  skill('quiet'),
  skill('forked', 'abc'),
  text('The report.'),
  skill('named'),
  text('Done.'),
];

/** The model uses skills: with arguments, forked, hidden from it, and named by the file. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  write(sandbox.cwd, {
    '.claude/skills/hello/SKILL.md':
      '---\ndescription: Says hello\n---\n\nHello $ARGUMENTS: $0, $1, $2 in ${CLAUDE_SKILL_DIR}.\n',
    '.claude/skills/plain/SKILL.md': 'Only text.\nSecond line.\n',
    '.claude/skills/quiet/SKILL.md': '---\ndescription: Quiet\nuser-invocable: false\n---\nQuiet text.\n',
    '.claude/skills/forked/SKILL.md': '---\ndescription: Forked\ncontext: fork\n---\nWork on $ARGUMENTS.\n',
    '.claude/skills/folder/SKILL.md': '---\nname: named\ndescription: Named\n---\nNamed text.\n',
  });
  write(sandbox.home, { '.claude/skills/mine/SKILL.md': '---\ndescription: Of the user\n---\nx\n' });
  const seen: unknown[] = [];
  const query = sdk.query({
    prompt: 'Go.',
    options: { ...options(sandbox), settingSources: ['user', 'project'], tools: ['Skill'] },
  });
  for await (const message of query) {
    if (message.type === 'system' && message.subtype === 'init')
      seen.push(own(message.skills), own(message.slash_commands));
    if (message.type === 'system' && message.subtype === 'task_started')
      seen.push({ description: message.description, prompt: message.prompt, type: message.task_type });
    if (message.type === 'user') {
      const { content } = message.message;
      seen.push({ content, isSynthetic: message.isSynthetic, result: withoutIds(message.tool_use_result) });
    }
    if (message.type === 'result') seen.push({ turns: message.num_turns, subtype: message.subtype });
  }
  const requests = sandbox.api.requests.map((request) => ({
    results: toolResults(request),
    texts: latestTexts(request)
      .filter((it) => !it.startsWith('<system-reminder>'))
      .map((it) => it.trimEnd()),
  }));
  const listing = JSON.stringify(sandbox.api.requests[0]?.messages);
  const listed = [
    'hello: Says hello',
    'plain: Only text.',
    'quiet: Quiet',
    'folder (named): Named',
    'mine: Of the user',
  ];
  return { seen, requests, listed: listed.map((it) => listing.includes(`- ${it}`)) };
}

/** The CLI has skills and commands of its own. */
function own(names: readonly string[]): string[] {
  return names.filter((it) => /^(?:hello|plain|quiet|forked|folder|named|mine)$/.test(it)).sort();
}

function withoutIds(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const { agentId, ...rest } = result as { agentId?: unknown };
  return { ...rest, hasAgent: agentId !== undefined };
}

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
