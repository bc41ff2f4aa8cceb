import { literalStars, matchesCommand } from './command-pattern.ts';
import { type PlainCommand, plainCommands } from './plain-command.ts';

/** Whether one allow rule covers the whole command: its exact text, or a pattern for one plain command. */
export function allowsCommand(content: string, command: string): boolean {
  const text = command.trim();
  if (content === text || content === literalStars(text)) return true;
  if (!content.includes('*')) return false;
  const plain = plainCommands(command);
  return plain?.length === 1 && matchesCommand(content, (plain[0] as PlainCommand).text);
}

/** For each plain command that a command line joins, the first content that allows it; undefined if one has none. */
export function allowingContents(
  contents: readonly string[],
  command: string,
): readonly string[] | undefined {
  const plain = plainCommands(command) ?? [];
  const found = plain.map(({ text, changesShell }) => {
    const needsExact = changesShell && plain.length > 1;
    return contents.find(
      (content) =>
        content === literalStars(text) ||
        (!needsExact && (content === text || matchesCommand(content, text))),
    );
  });
  return found.length > 0 && found.every((content) => content !== undefined) ? found : undefined;
}
