import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text, toolUse } from '../../test/support/model-api/model-reply.ts';
import { latestTexts } from '../../test/support/model-api/model-view.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const PATHS = ['below/deep/a.ts', 'below/deep/a.ts', 'b.css', 'missing.css', 'c.css'];

export const script = [...PATHS.map((path) => toolUse('Read', { file_path: path })), text('Done.')];

/** Memory files of folders and rules for paths follow the result of a Read that they are about, once. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const files = {
    'below/CLAUDE.md': 'Below. @more.md',
    'below/more.md': 'More.',
    'below/CLAUDE.local.md': 'Below, local.',
    'below/deep/CLAUDE.md': 'Deep.',
    'other/CLAUDE.md': 'Other.',
    '.claude/rules/css.md': '---\npaths: "**/*.css"\n---\nFor CSS.',
    '.claude/rules/ts.md': '---\npaths:\n  - "below/**/*.ts"\n---\nFor TypeScript.',
    'below/deep/a.ts': 'a',
    'b.css': 'b',
    'c.css': 'c',
  };
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(sandbox.cwd, name)), { recursive: true });
    writeFileSync(join(sandbox.cwd, name), content);
  }
  const { settingSources: _, ...rest } = options(sandbox);
  await transcribe(sdk.query({ prompt: 'Go.', options: { ...rest, tools: ['Read'] } }));
  // The CLI adds a line end to a text that another one follows.
  return sandbox.api.requests.map((request) => latestTexts(request).map((it) => it.replace(/\n$/, '')));
}
