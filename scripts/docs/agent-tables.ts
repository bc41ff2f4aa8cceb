import { type Argument, Command } from 'commander';
import type { BuiltIn } from '../../src/agent/builtins/built-in.ts';
import { BUILT_INS } from '../../src/agent/builtins/table.ts';
import { FLAGS, type FlagUse } from '../../src/agent/launch/flag-table.ts';
import { MODEL_ALIASES } from '../../src/agent/launch/model-name.ts';
import { MODEL_FIGURES, PRICES_DATE } from '../../src/agent/models/model-figures.ts';
import { COMMANDS } from '../../src/cli/chat/commands.ts';
import { loadAll } from '../../src/cli/command-table.ts';
import { addAgentFlags } from '../../src/cli/flags/agent-flags.ts';
import { createProgram } from '../../src/cli/program.ts';
import { FAILURE_POLICY } from '../../src/hooks/match-hooks.ts';
import type { CertainEffect } from '../../src/permissions/commands/command-effect.ts';
import { decide } from '../../src/permissions/decide.ts';
import { matchesCall, type ToolCall } from '../../src/permissions/match.ts';
import type { Workspace } from '../../src/permissions/path.ts';
import { parseRule } from '../../src/permissions/rule.ts';
import type { ToolAnnotations } from '../../src/protocol/mcp.ts';
import { PERMISSION_MODES } from '../../src/protocol/permission.ts';
import { table } from './markdown-table.ts';

const PROGRAM = createProgram();
await loadAll(PROGRAM);

/** Generators of tables for the pages about Toolplane's own agent. */
export const AGENT_TABLES: Readonly<Record<string, () => string>> = {
  'agent-flags': agentFlags,
  'built-in-tools': builtInTools,
  'chat-commands': chatCommands,
  'command-flags': commandFlags,
  'hook-failures': hookFailures,
  'mcp-commands': mcpCommands,
  'model-aliases': modelAliases,
  'model-prices': modelPrices,
  'permission-modes': permissionModes,
  'permission-rules': permissionRules,
};

function agentFlags(): string {
  const rows = Object.entries(FLAGS).map(([name, { kind, use }]) => {
    return [`\`${name.length > 1 ? '--' : '-'}${name}\``, kind.what, effectOf(use)];
  });
  return table(['flag', 'value', 'effect'], rows);
}

function effectOf(use: FlagUse): string {
  switch (use.as) {
    case 'used':
      return 'used';
    case 'harmless':
      return `accepted: ${use.why}`;
    case 'unused':
      return `no effect, reported: ${use.why}`;
    case 'refused':
      return `**rejected**: ${use.instead}`;
  }
}

function modelPrices(): string {
  const rows = Object.entries(MODEL_FIGURES).flatMap(([name, { long, ...base }]) => [
    priceRow(`\`${name}\``, base),
    ...(long
      ? [priceRow(`\`${name}\`, prompts over ${long.above.toLocaleString('en-US')} tokens`, long)]
      : []),
  ]);
  const head = ['model', 'input', 'output', 'cache read', 'cache write, 5 minutes', 'cache write, 1 hour'];
  return `US dollars per million tokens, ${PRICES_DATE}:\n\n${table(head, rows)}`;
}

function priceRow(
  name: string,
  it: Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h', number>,
): string[] {
  return [name, ...[it.input, it.output, it.cacheRead, it.cacheWrite, it.cacheWrite1h].map(String)];
}

/** Shows the first sentence of each tool description. */
function builtInTools(): string {
  const rows = BUILT_INS.map((builtIn) => {
    const { name, description = '' } = builtIn.listed;
    const [sentence = ''] = description.split(/(?<=\.) /);
    return [`\`${name}\``, sentence, approvalNeed(builtIn)];
  });
  return table(['tool', 'description', 'requires approval'], rows);
}

function approvalNeed({ listed, approval, asksQuestion, commandMember, uriMember, doubt }: BuiltIn): string {
  if (asksQuestion) return "always: the answer to the permission request contains the user's answers";
  if (approval === 'never') return 'no';
  if (approval === 'in-plan-mode') return 'no; denied in mode `plan`';
  if (commandMember !== undefined)
    return 'yes, except for [some commands](permissions-and-hooks.md#commands-without-approval)';
  if (!listed.annotations?.readOnlyHint) return 'yes';
  if (uriMember !== undefined) return 'if the server does not list the resource and is not trusted';
  return doubt ? 'if the skill has `allowed-tools`' : 'no';
}

/** Hidden commands are omitted, as in `--help`. */
function mcpCommands(): string {
  const mcp = PROGRAM.commands.find((command) => command.name() === 'mcp');
  if (!mcp) throw new Error('no command mcp');
  const help = mcp.createHelp();
  const rows = help
    .visibleCommands(mcp)
    .filter((command) => command.name() !== 'help')
    .map((command) => [
      `\`toolplane mcp ${command.name()}${help
        .visibleArguments(command)
        .map((it) => ` ${argumentText(it)}`)
        .join('')}\``,
      command.description(),
    ]);
  return table(['command', 'meaning'], rows);
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function chatCommands(): string {
  const rows = Object.entries(COMMANDS).map(([name, { takes, description: does }]) => [
    `\`/${`${name} ${takes}`.trimEnd()}\``,
    does,
  ]);
  return table(['command', 'meaning'], rows);
}

function commandFlags(): string {
  const rows = addAgentFlags(new Command()).options.map(({ flags, description, argChoices }) => [
    `\`${flags}\``,
    (argChoices ? `${description}: ${argChoices.join(', ')}` : description).replaceAll('<', '&lt;'),
  ]);
  return table(['flag', 'meaning'], rows);
}

function hookFailures(): string {
  const events = (consequence: string) =>
    Object.entries(FAILURE_POLICY)
      .filter(([, it]) => it === consequence)
      .map(([event]) => `\`${event}\``)
      .join(', ');
  return table(
    ['if a hook fails', 'events'],
    [
      ['the action is blocked', events('block')],
      ['the action continues', events('continue')],
    ],
  );
}

function modelAliases(): string {
  return Object.entries(MODEL_ALIASES)
    .map(([alias, name]) => `\`${alias}\` is \`${name}\``)
    .concat(
      '`best` is the same as `opus`',
      '`opusplan` is the same as `opus` in plan mode and as `sonnet` otherwise',
    )
    .join(', ');
}

const WORKSPACE: Workspace = { cwd: '/home/ada/shop', home: '/home/ada', directories: [] };
const READS: ToolAnnotations = { readOnlyHint: true };
const NOTES: ToolCall = { name: 'mcp__notes__list', server: 'notes', tool: 'list', input: {} };

/** Calls that match no rule, one per column. */
const LS: ToolCall = { name: 'Bash', input: { command: 'ls' } };
const TOUCH: ToolCall = { name: 'Bash', input: { command: 'touch a' } };
const UNRULED: readonly (readonly [
  string,
  ToolCall,
  ToolAnnotations,
  'trusted' | 'untrusted',
  CertainEffect?,
])[] = [
  ['`Read`, `Glob`, `Grep` inside', { name: 'Read', input: { file_path: 'a.ts' } }, READS, 'trusted'],
  ['`Read`, `Glob`, `Grep` outside', { name: 'Read', input: { file_path: '/etc/hosts' } }, READS, 'trusted'],
  ['`Write`, `Edit`, `NotebookEdit` inside', { name: 'Edit', input: { file_path: 'a.ts' } }, {}, 'trusted'],
  [
    '`Write`, `Edit`, `NotebookEdit` of a `.git` file',
    { name: 'Edit', input: { file_path: '.git/config' } },
    {},
    'trusted',
  ],
  ['[`Bash` that only reads](#commands-without-approval)', LS, {}, 'trusted', 'reads'],
  ['[`Bash` that edits files](#commands-without-approval)', TOUCH, {}, 'trusted', 'edits'],
  ['any other `Bash` call', { name: 'Bash', input: { command: 'make' } }, {}, 'trusted'],
  ['other read-only built-in tool, read-only tool of a trusted server', NOTES, READS, 'trusted'],
  ['read-only tool of any other server', NOTES, READS, 'untrusted'],
  ['any other tool that requires approval', NOTES, {}, 'trusted'],
];

/** The decision of `decide()` for each call and mode. */
function permissionModes(): string {
  const rows = PERMISSION_MODES.map((mode) => [
    `\`${mode}\``,
    ...UNRULED.map(([, call, annotations, trust, effect]) => {
      const trusted = trust === 'trusted';
      return decide({
        call,
        annotations,
        trusted,
        ...(effect && { effect }),
        mode,
        bypassLaunched: true,
        rules: [],
        workspace: WORKSPACE,
      }).kind;
    }),
  ]);
  return table(['mode', ...UNRULED.map(([what]) => what)], rows);
}

const bash = (command: string): ToolCall => ({ name: 'Bash', input: { command } });
const file = (name: string, file_path: string): ToolCall => ({ name, input: { file_path } });
const page = (url: string): ToolCall => ({ name: 'WebFetch', input: { url } });
const mcp = (server: string, tool: string): ToolCall => ({
  name: `mcp__${server}__${tool}`,
  server,
  tool,
  input: {},
});

/** Example rules, each with calls to match. */
const TRIED: readonly (readonly [string, readonly (readonly [string, ToolCall])[]])[] = [
  ['Bash', [['`ls`', bash('ls')]]],
  [
    'Bash(git log *)',
    [
      ['`git log`', bash('git log')],
      ['`git log -3`', bash('git log -3')],
      ['`git push`', bash('git push')],
      ['`git log; rm x`', bash('git log; rm x')],
    ],
  ],
  [
    'Bash(git log:*)',
    [
      ['the same as `Bash(git log *)`: `git log`', bash('git log')],
      ['`git log -3`', bash('git log -3')],
      ['`git push`', bash('git push')],
      ['`git log; rm x`', bash('git log; rm x')],
    ],
  ],
  [
    'Bash(npm test)',
    [
      ['`npm test`', bash('npm test')],
      ['`npm test x`', bash('npm test x')],
    ],
  ],
  [
    'Read(src/**)',
    [
      ['`Read` of `src/a/b.ts`', file('Read', 'src/a/b.ts')],
      ['`Grep` in `src/a`', { name: 'Grep', input: { path: 'src/a' } }],
      ['`Read` of `package.json`', file('Read', 'package.json')],
    ],
  ],
  [
    'Edit(*.md)',
    [
      ['`Edit` of `docs/a.md`', file('Edit', 'docs/a.md')],
      ['`Write` of `a.md`', file('Write', 'a.md')],
      ['`Edit` of `a.ts`', file('Edit', 'a.ts')],
    ],
  ],
  [
    'Read(~/notes)',
    [
      ['`Read` of `~/notes/a`', file('Read', '~/notes/a')],
      ['`Read` of `~/keys`', file('Read', '~/keys')],
    ],
  ],
  [
    'Read(//etc/hosts)',
    [
      ['`Read` of `/etc/hosts`', file('Read', '/etc/hosts')],
      ['`Read` of `etc/hosts`', file('Read', 'etc/hosts')],
    ],
  ],
  [
    'WebFetch(domain:example.com)',
    [
      ['`WebFetch` of `https://example.com/a`', page('https://example.com/a')],
      ['`WebFetch` of `https://sub.example.com/a`', page('https://sub.example.com/a')],
    ],
  ],
  [
    'mcp__docs',
    [
      ['`mcp__docs__search`', mcp('docs', 'search')],
      ['`mcp__docs2__search`', mcp('docs2', 'search')],
    ],
  ],
  [
    'mcp__docs__get_*',
    [
      ['`mcp__docs__get_page`', mcp('docs', 'get_page')],
      ['`mcp__docs__search`', mcp('docs', 'search')],
    ],
  ],
  ['mcp__*', [['`mcp__docs__search`', mcp('docs', 'search')]]],
  [
    'Agent(counter)',
    [
      ['`Agent` for `counter`', { name: 'Agent', input: { subagent_type: 'counter' } }],
      ['`Agent` for `writer`', { name: 'Agent', input: { subagent_type: 'writer' } }],
    ],
  ],
  [
    'Skill(release-notes)',
    [
      ['`Skill` for `release-notes`', { name: 'Skill', input: { skill: 'release-notes' } }],
      ['`Skill` for `deploy`', { name: 'Skill', input: { skill: 'deploy' } }],
    ],
  ],
  [
    'Sampling(docs)',
    [
      ['sampling requests of the server `docs`', { name: 'Sampling', input: { server: 'docs' } }],
      ['sampling requests of the server `deploy`', { name: 'Sampling', input: { server: 'deploy' } }],
    ],
  ],
  [
    'connect_mcp(docs)',
    [
      ['`connect_mcp` to `docs`', { name: 'connect_mcp', input: { name: 'docs' } }],
      ['`connect_mcp` to `deploy`', { name: 'connect_mcp', input: { name: 'deploy' } }],
    ],
  ],
];

/** Matches each rule against its calls. */
function permissionRules(): string {
  const rows = TRIED.map(([text, calls]) => {
    const parsed = parseRule(text, 'allow', 'cliArg');
    if (!parsed.ok) throw new Error(parsed.diagnostic.message);
    const matching = calls.filter(([, call]) => matchesCall(parsed.rule, call, WORKSPACE));
    const others = calls.filter((it) => !matching.includes(it));
    return [
      `\`${text}\``,
      matching.map(([what]) => what).join(', '),
      others.map(([what]) => what).join(', '),
    ];
  });
  return table(['rule', 'allows', 'does not allow'], rows);
}
