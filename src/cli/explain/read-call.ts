import { parseRule } from '../../permissions/rule.ts';
import { subjectMember } from '../../permissions/subject.ts';

/** A call as people write it: the name of a tool, and the arguments that its text names. */
export type WrittenCall = { readonly name: string; readonly input?: Readonly<Record<string, string>> };

/**
 * Reads `Tool`, or `Tool(argument)` as rules have it: `Bash(git push)` is a call of Bash with that command, `Read(a.txt)` one
 * of Read with that path. The end of a pattern, `:*` or ` *`, is no part of a command. Gives why it can be no call.
 */
export function readCall(
  text: string,
  builtIns: readonly string[],
): WrittenCall | { readonly fault: string } {
  if (!/[()]/.test(text)) return { name: text };
  const parsed = parseRule(text, 'ask', 'cliArg');
  if (parsed.ok) {
    const { tool: name, content } = parsed.rule;
    const member = subjectMember(name);
    if (content === undefined || member === undefined) return { name };
    return {
      name,
      input: { [member]: member === 'command' ? content.replace(/(?::\*| \*)$/, '') : content },
    };
  }
  const { code, message } = parsed.diagnostic;
  const name = text.slice(0, text.indexOf('(')).trim();
  const isUnknown = code === 'RULE_TAKES_NO_PATTERN' && !name.startsWith('mcp__') && !builtIns.includes(name);
  return isUnknown ? { name } : { fault: message };
}
