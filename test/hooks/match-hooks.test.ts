import { expect, test } from 'vitest';
import { matcherFault, matchingHooks } from '../../src/hooks/match-hooks.ts';
import { parseRule } from '../../src/permissions/rule.ts';
import { aliasesOf } from '../../src/pool/unique-names.ts';
import type { HookInput } from '../../src/protocol/hook.ts';
import { callback, ofServer, preToolUse, prompt, started } from './inputs.ts';

const shell = (command: string) => ({ ...preToolUse('Bash'), tool_input: { command } }) as HookInput;
const [DROP_ALIAS = ''] = aliasesOf('prod__db', 'drop');
const LONG = 'x'.repeat(120);
const [LONG_ALIAS = ''] = aliasesOf('docs', LONG);

test.each<[string | undefined, HookInput, boolean]>([
  [undefined, preToolUse('Bash'), true],
  ['', preToolUse('Bash'), true],
  ['*', preToolUse('Bash'), true],
  ['Bash', preToolUse('Bash'), true],
  ['Bash', preToolUse('BashOutput'), false],
  ['bash', preToolUse('Bash'), false],
  ['Edit|Write', preToolUse('Write'), true],
  ['Edit | Write', preToolUse('Write'), true],
  ['Edit|Write', preToolUse('NotebookEdit'), false],
  ['mcp__docs__.*', preToolUse('mcp__docs__search'), true],
  ['mcp__.*__write', preToolUse('mcp__a__write_all'), true],
  ['^Bash$', preToolUse('BashOutput'), false],
  ['mcp__my-server__t', preToolUse('mcp__my-server__t'), true],
  ['(', preToolUse('Bash'), false],
])('matcher %j for %j', (matcher, input, expected) => {
  const hook = callback('h', matcher === undefined ? {} : { matcher });
  expect(matchingHooks([hook], input).length === 1).toBe(expected);
});

test.each<[string, string, HookInput, boolean]>([
  ['full name of an alias', 'mcp__prod__db__drop', ofServer(DROP_ALIAS, 'prod__db', 'drop'), true],
  ['expression over the full name', '^mcp__prod__db__drop$', ofServer(DROP_ALIAS, 'prod__db', 'drop'), true],
  ['one of several names', 'Bash|mcp__prod__db__drop', ofServer(DROP_ALIAS, 'prod__db', 'drop'), true],
  ['the alias', DROP_ALIAS, ofServer(DROP_ALIAS, 'prod__db', 'drop'), true],
  [
    'the alias of a tool that has its full name again',
    DROP_ALIAS,
    ofServer('mcp__prod__db__drop', 'prod__db'),
    true,
  ],
  ['the alias of the tool of another server', DROP_ALIAS, ofServer('mcp__prod__db__drop', 'prod'), false],
  ['the other tool of that name', 'mcp__prod__db__drop', ofServer('mcp__prod__db__drop', 'prod'), true],
  ['full name of one that is too long', `mcp__docs__${LONG}`, ofServer(LONG_ALIAS, 'docs', LONG), true],
  ['end of one that is too long', 'x$', ofServer(LONG_ALIAS, 'docs', LONG), true],
  [
    'name as the server writes it',
    'mcp__my server__read',
    ofServer('mcp__my_server__read', 'my server', 'read'),
    true,
  ],
  [
    'letters that are not in names',
    'mcp__größe__messen',
    ofServer('mcp__gr__e__messen', 'größe', 'messen'),
    true,
  ],
  ['half normalized', 'mcp__my server__a_b', ofServer('mcp__my_server__a_b', 'my server', 'a.b'), true],
  ['another tool', 'mcp__prod__db__list', ofServer(DROP_ALIAS, 'prod__db', 'drop'), false],
  ['another server', 'mcp__test__.*', ofServer(DROP_ALIAS, 'prod__db', 'drop'), false],
  ['a built-in of that name', 'drop', ofServer(DROP_ALIAS, 'prod__db', 'drop'), false],
])('the tool of a server is matched by %s', (_, matcher, input, expected) => {
  expect(matchingHooks([callback('h', { matcher })], input).length === 1).toBe(expected);
});

test('matches an elicitation by the server key and its normalized form', () => {
  const hooks = ['my server', 'my_server', 'other'].map((matcher) =>
    callback(matcher, { event: 'Elicitation', matcher }),
  );
  const input = { ...prompt, hook_event_name: 'Elicitation', mcp_server_name: 'my server' } as HookInput;
  expect(matchingHooks(hooks, input)).toEqual(hooks.slice(0, 2));
});

test('hooks of other events do not run, and matchers compare the subject of the event', () => {
  const hooks = [callback('a'), callback('b', { event: 'SessionStart', matcher: 'resume' })];
  expect(matchingHooks(hooks, started('resume'))).toEqual([hooks[1]]);
  expect(matchingHooks(hooks, started('startup'))).toEqual([]);
});

test.each<[string, HookInput, boolean]>([
  ['Bash(git push *)', shell('git push origin'), true],
  ['Bash(git push *)', shell('cd x && sudo git push'), true],
  ['Bash(git push *)', shell('$cmd'), true],
  ['Bash(git push *)', shell('git log'), false],
  ['Edit(src/**)', { ...preToolUse('Write'), tool_input: { file_path: '/w/src/a' } } as HookInput, true],
  ['Edit(~/x)', { ...preToolUse('Edit'), tool_input: { file_path: '/h/x/y' } } as HookInput, true],
  ['Edit(src/**)', { ...preToolUse('Write'), tool_input: { file_path: '/w/a' } } as HookInput, false],
  ['mcp__docs__get_*', ofServer('mcp__docs__get_page', 'docs'), true],
  ['mcp__docs__get_*', ofServer('mcp__docs__search', 'docs'), false],
  ['Bash(git push *)', prompt, true],
])('a hook with the condition %s', (text, input, expected) => {
  const parsed = parseRule(text, 'deny', 'userSettings');
  if (!parsed.ok) throw new Error(parsed.diagnostic.message);
  const hook = callback('h', { event: input.hook_event_name, condition: parsed.rule });
  expect(matchingHooks([hook], input, '/h').length === 1).toBe(expected);
});

test('an event without a subject runs all its hooks', () => {
  expect(matchingHooks([callback('a', { event: 'UserPromptSubmit', matcher: 'Bash' })], prompt)).toHaveLength(
    1,
  );
});

test.each([
  ['(', 'missing closing ): ('],
  ['[z', 'missing closing ]: [z'],
  ['^(?!Bash)', 'lookahead and lookbehind are not supported'],
  ['Bash', undefined],
  ['', undefined],
  ['a.*', undefined],
])('matcherFault(%j): %s', (matcher, expected) => {
  expect(matcherFault(matcher)).toBe(expected);
});

test('a matcher that is no regular expression matches nothing, one with lookahead everything', () => {
  const hooks = ['(', '[z', '^(?!Bash)'].map((matcher) => callback(matcher, { matcher }));
  expect(matchingHooks(hooks, preToolUse('Bash'))).toEqual(hooks.slice(2));
});

test('a matcher that would backtrack takes linear time', () => {
  const hook = callback('h', { matcher: '^(([a-z])+.)+[A-Z]([a-z])+$' });
  expect(matchingHooks([hook], preToolUse('a'.repeat(100_000)))).toEqual([]);
});
