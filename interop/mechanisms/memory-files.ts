import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const SOURCES = [undefined, [], ['project'], ['user', 'local']] as const;

export const script = SOURCES.map(() => text('Read.'));

/** Which memory files the model gets, in which order, for each choice of sources. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const write = (directory: string, files: Record<string, string>) => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), content);
    }
  };
  const cwd = join(sandbox.cwd, 'project');
  write(sandbox.home, {
    '.claude/CLAUDE.md': 'User. @~/notes.md',
    'notes.md': 'Notes.',
    '.claude/rules/r.md': 'Rule.',
  });
  write(sandbox.cwd, { 'CLAUDE.md': 'Above.', 'CLAUDE.local.md': 'Above, local.', 'outside.md': 'Outside.' });
  write(cwd, {
    'CLAUDE.md':
      'Project. @docs/a.md `@no.md` @missing.md @../outside.md\n```\n@no.md\n```\n<!-- hidden -->\n@b.md',
    'no.md': 'Not imported.',
    'b.md': '---\ntitle: b\n---\nB.',
    'docs/a.md': 'A. @c.md @../CLAUDE.md',
    'docs/c.md': 'C.',
    '.claude/CLAUDE.md': 'Folder.',
    '.claude/rules/all.md': 'For all.',
    '.claude/rules/css.md': '---\npaths: "**/*.css"\n---\nFor CSS.',
    'CLAUDE.local.md': 'Local.',
    'below/CLAUDE.md': 'Below.',
  });
  for (const settingSources of SOURCES) {
    const { settingSources: _, ...rest } = options(sandbox);
    const chosen = settingSources ? { settingSources: [...settingSources] } : {};
    await transcribe(sdk.query({ prompt: 'Go.', options: { ...rest, ...chosen, cwd } }));
  }
  return sandbox.api.requests.map(({ messages }) => contentsOf(messages));
}

/** The paths and contents of memory files in the first reminder. */
function contentsOf(messages: unknown): unknown {
  const all = JSON.stringify(messages).matchAll(
    /Contents of (\S+) \([^)]*\):\\n\\n(.*?)(?=\\n\\nContents of |\\n<\/system-reminder>)/g,
  );
  return [...all].map(([, path, content]) => ({ path, content }));
}
