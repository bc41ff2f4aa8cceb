import { variableName } from './variables.ts';

/** What is said of a command with blanks in it, which no shell takes apart; of its words only the first, since others may be secret. */
export function oneWordAdvice(
  { command }: Readonly<Record<string, unknown>>,
  given: 'words' | 'json',
): string[] {
  if (typeof command !== 'string' || !/\S\s+\S/.test(command)) return [];
  const [first = ''] = command.trim().split(/\s/);
  const variable = variableName(first);
  if (variable !== undefined) return [`the command begins with the variable ${variable}, which "env" takes`];
  const cure =
    given === 'json'
      ? `"command": ${JSON.stringify(first)}, "args": ["…"]`
      : `add it again with --force, without the quotes: -- ${first} …`;
  return [
    `the command is one word with blanks in it; if what follows ${first} are its arguments, write each as its own: ${cure}`,
  ];
}
