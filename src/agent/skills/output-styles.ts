import { Fields, type LineProblem, parseFrontmatter } from '../../base/text/frontmatter.ts';
import type { DefinitionFile, DefinitionScope } from './definition-files.ts';

/** How the agent writes, and what it explains. */
export type OutputStyle = {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  readonly scope: DefinitionScope | 'built-in';
  readonly label: string;
};

/** The style without instructions. */
export const DEFAULT_STYLE = 'default';

/** The built-in styles, in the order in which programs see them. */
const BUILT_IN: readonly OutputStyle[] = [
  builtIn(
    'Proactive',
    'Acts on its own judgement and reports afterwards.',
    `Work towards the goal of the user without waiting to be told each step.
- Take the next obvious step yourself: run the tests after a change, fix what they show, look up what you need.
- Decide details yourself, and name the decision in your report. Ask only if a wrong choice would be costly to undo.
- Permissions are unchanged: never work around a denied call, and do nothing that cannot be undone without being asked to.`,
  ),
  builtIn(
    'Concise',
    'Short answers that begin with the result.',
    `Write as little as the reader needs.
- Begin with the result or the answer. No introduction, no summary of what was just said.
- Do not narrate steps. Report outcomes, decisions, and what the user has to do.
- Answer a simple question in one to three sentences. Use lists and tables only for things that are lists or tables.
- Keep errors, failed tests, security warnings and questions before destructive actions complete, and explain in full when asked.`,
  ),
  builtIn(
    'Explanatory',
    'Explains choices and the code base along with the work.',
    `Do the work, and help the user understand it.
- Before or after a change, explain in two or three points why it is done this way, how it fits the patterns of this code base, and what the alternatives were.
- Explain what is specific to this code, not general knowledge about programming.
- Write explanations in your messages, never as comments in the code.`,
  ),
  builtIn(
    'Learning',
    'Lets the user write small, instructive parts of the code.',
    `Work together with the user, who wants to learn by doing.
- Where a change contains a part of five to ten lines with a real choice (an algorithm, an error policy, an interface), leave that part to the user: prepare the surrounding code, mark the place with a comment that says what belongs there, and say in your message what is needed and which trade-offs matter. Then wait.
- Leave only one such part at a time, and write everything routine yourself.
- After the user has written the part, read it, and say what you noticed in a few sentences.`,
  ),
];

function builtIn(name: string, description: string, text: string): OutputStyle {
  return { name, description, text, scope: 'built-in', label: 'built in' };
}

/** All styles by name: the built-in ones, then those of files, of which the last with a name is used. */
export function outputStyles(files: readonly DefinitionFile[]): {
  readonly styles: ReadonlyMap<string, OutputStyle>;
  readonly problems: readonly { readonly label: string; readonly problems: readonly LineProblem[] }[];
} {
  const read = files.map((file) => ({ label: file.label, ...readStyle(file) }));
  const all = [...BUILT_IN, ...read.flatMap(({ style }) => style)];
  return {
    styles: new Map(all.map((style) => [style.name, style])),
    problems: read.map(({ label, problems }) => ({ label, problems })),
  };
}

function readStyle(file: DefinitionFile): {
  readonly style: OutputStyle;
  readonly problems: readonly LineProblem[];
} {
  const parsed = parseFrontmatter(file.text);
  const fields = new Fields(parsed);
  const given = fields.text('name')?.trim();
  const isNamed = given !== undefined && given !== '' && given.length <= 128 && given !== DEFAULT_STYLE;
  if (given !== undefined && !isNamed)
    fields.report('name', 'must have 1 to 128 characters and not be "default"; the name of the file is used');
  const named = isNamed && file.plugin !== undefined ? `${file.plugin}:${given}` : given;
  const description = fields.text('description') ?? '';
  fields.ignore('keep-coding-instructions');
  fields.reportUnknown();
  const text = parsed.body.trim();
  if (text === '')
    fields.report(
      'name',
      'is not followed by instructions, so the style changes nothing; write them below the frontmatter',
    );
  return {
    style: {
      name: isNamed ? (named as string) : file.name,
      description,
      text,
      scope: file.scope,
      label: file.label,
    },
    problems: fields.problems,
  };
}

/** The texts before a prompt: the instructions with the first one, a line about them later. */
export function styleReminders(style: OutputStyle, isFirst: boolean): string[] {
  const line = `The output style ${style.name} is active: follow its guidelines.`;
  return isFirst ? [`# Output Style: ${style.name}\n${style.text}`] : [line];
}
