import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from '../../test/support/model-api/model-reply.ts';
import { latestTexts } from '../../test/support/model-api/model-view.ts';
import { options, type Sandbox, type Sdk, type UserMessage } from '../program.ts';

const PROMPTS = [
  '/greet Ann "Bob Carl"',
  '/deep:dive',
  '/words a b',
  '/show',
  '/quiet',
  '/skill x',
  '/mine',
  '/nope yes',
  '/usr/bin is a folder',
];

export const script = PROMPTS.map((_, at) => text(`Reply ${at}.`));

/** Users run commands of files: with arguments, with a file, with commands in the text, unknown ones. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  write(sandbox.cwd, {
    '.claude/commands/greet.md':
      '---\ndescription: Greets\nargument-hint: [who] [what]\narguments: who what\n---\nGreet $who with $what: $0, $1, $2, $ARGUMENTS.\n',
    '.claude/commands/deep/dive.md': '# Dive deep\nMore.\n',
    '.claude/commands/words.md': '---\ndescription: Words\n---\nNo placeholder.\n',
    '.claude/commands/show.md': '---\ndescription: Shows\n---\nSee @note.txt now.\n',
    '.claude/skills/quiet/SKILL.md': '---\ndescription: Quiet\nuser-invocable: false\n---\nx\n',
    '.claude/skills/skill/SKILL.md':
      '---\ndescription: A skill\ndisable-model-invocation: true\n---\nSkill $0.\n',
    'note.txt': 'a note\n',
  });
  write(sandbox.home, {
    '.claude/commands/mine.md':
      '---\ndescription: Mine\nallowed-tools: Bash(echo:*)\n---\nOut: !`echo hi there` end.\n',
  });
  const results: unknown[] = [];
  const next = { resolve: () => {} };
  async function* prompts(): AsyncGenerator<UserMessage> {
    for (const content of PROMPTS) {
      const answered = new Promise<void>((resolve) => Object.assign(next, { resolve }));
      yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
      await answered;
    }
  }
  const query = sdk.query({
    prompt: prompts(),
    options: { ...options(sandbox), settingSources: ['user', 'project'], tools: ['Bash'] },
  });
  const commands = await query.supportedCommands();
  for await (const message of query) {
    if (message.type !== 'result') continue;
    results.push({
      subtype: message.subtype,
      turns: message.num_turns,
      result: 'result' in message && message.result,
    });
    next.resolve();
  }
  const requests = sandbox.api.requests.map((request) => latestTexts(request));
  return {
    commands: commands
      .filter(({ name }) => /^(?:greet|deep:dive|words|show|quiet|skill|mine)$/.test(name))
      .map(({ name, description, argumentHint }) => ({ name, description, argumentHint }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    results,
    said: requests.map((texts) =>
      texts.filter((it) => !it.startsWith('<system-reminder>')).map((it) => it.trimEnd()),
    ),
    // The file that a command names, and the command that does not exist, are reminders.
    readsFile: requests.map((texts) => texts.some((it) => /Called the Read tool.*note\.txt/s.test(it))),
    isUnknown: requests.map((texts) => texts.some((it) => /slash command \/nope\b/.test(it))),
  };
}

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
