import { dirname } from 'node:path';
import { truncate } from '../../base/text/display-text.ts';
import { Fields, type LineProblem, parseFrontmatter } from '../../base/text/frontmatter.ts';
import { parseRule, type Rule } from '../../permissions/rule.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { EFFORT_LEVELS } from '../../protocol/system-message.ts';
import {
  type AgentDefinition,
  parseAgents,
  UNSUPPORTED_MEMBERS,
} from '../builtins/agents/agent-definition.ts';
import type { DefinitionFile, DefinitionScope } from './definition-files.ts';

/** A skill or a slash command. The model uses either by `Skill`, users by `/name`. */
export type Skill = {
  readonly kind: 'skill' | 'command';
  /** The name that follows from the path. */
  readonly name: string;
  /** The name that the file gives, if it is another one than that of the folder. */
  readonly alias?: string;
  readonly description: string;
  /** Whether the file itself gives the description; otherwise it is the first line of the text. */
  readonly isDescribed: boolean;
  readonly argumentHint: string;
  /** The names of the arguments: `$who` is the first, `$what` the second. */
  readonly argumentNames: readonly string[];
  /** Rules for the calls that run without a permission prompt, as written. */
  readonly allowedTools: readonly string[];
  readonly model?: string;
  /** The type of the sub-agent that a forked skill runs in; undefined if it runs in the conversation. */
  readonly agent?: string;
  /** Whether the model may use the skill. */
  readonly isForModel: boolean;
  /** Whether users may use the skill as a slash command. */
  readonly isForUsers: boolean;
  readonly scope: DefinitionScope;
  readonly plugin?: string;
  /** An MCP server offers the skill: `plugin` is its name, and its text is not in a file. */
  readonly isOfServer?: true;
  /** The folder of the file. */
  readonly directory: string;
  readonly path: string;
  readonly label: string;
  /** The text of the file without its frontmatter. */
  readonly body: string;
  /** The whole file, which approvals are for. */
  readonly text: string;
};

type Read<T> = { readonly value: T | undefined; readonly problems: readonly LineProblem[] };

/** Maximum number of characters of a description: the model gets the descriptions of all skills. */
const MAX_DESCRIPTION = 1_024;
const MAX_NAME = 128;

/** A name that can be typed after a slash. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.:-]*$/u;

/** Fields that other programs use; they have no effect here. */
const OF_OTHERS = ['version', 'license', 'compatibility', 'metadata', 'author', 'tags', 'category', 'color'];

/** Reads a skill or a command; `value` is undefined if the file has no usable name. */
export function readSkill(file: DefinitionFile): Read<Skill> {
  const parsed = parseFrontmatter(file.text);
  const fields = new Fields(parsed);
  const isSkill = file.kind === 'skill';
  const given = isSkill ? fields.text('name')?.trim() : undefined;
  if (!isSkill) fields.ignore('name');
  const isNamed = given !== undefined && NAME.test(given) && given.length <= MAX_NAME;
  if (given !== undefined && !isNamed)
    fields.report('name', 'must consist of letters, digits, "-", "_", "." and ":"');
  const named = isNamed && file.plugin !== undefined ? `${file.plugin}:${given}` : given;
  const { name } = file;
  const description = fields.text('description')?.trim();
  const usage = fields.text('when_to_use')?.trim();
  const context = fields.word('context', ['fork', 'inline']);
  const agent = fields.text('agent');
  if (agent !== undefined && context !== 'fork')
    fields.report('agent', 'has an effect only with context: fork');
  const model = fields.text('model');
  const isHidden = fields.flag('disable-model-invocation') === true;
  const isForUsers = fields.flag('user-invocable') !== false;
  const allowedTools = readAllowed(fields);
  const argumentHint = fields.text('argument-hint') ?? '';
  const argumentNames = (fields.list('arguments', 'blank') ?? []).filter((it) => /^[A-Za-z_]\w*$/.test(it));
  fields.ignore(...OF_OTHERS);
  fields.reportUnknown();
  if (!NAME.test(name) || name.length > MAX_NAME) {
    const message = `the name ${JSON.stringify(truncate(name, MAX_NAME))} cannot be typed after a slash; rename the file`;
    return { value: undefined, problems: [...fields.problems, { line: 1, message }] };
  }
  const isDescribed = description !== undefined && description !== '';
  const about = [isDescribed ? description : firstLine(parsed.body), usage].filter(Boolean).join(' - ');
  const skill: Skill = {
    kind: isSkill ? 'skill' : 'command',
    name,
    ...(isNamed && named !== undefined && named !== name && { alias: named }),
    description: oneLine(about),
    isDescribed,
    argumentHint: oneLine(argumentHint),
    argumentNames,
    allowedTools,
    ...(model !== undefined && model !== 'inherit' && { model }),
    ...(context === 'fork' && { agent: agent ?? 'general-purpose' }),
    isForModel: !isHidden,
    isForUsers,
    scope: file.scope,
    ...(file.plugin !== undefined && { plugin: file.plugin }),
    directory: dirname(file.path),
    path: file.path,
    label: file.label,
    body: parsed.body,
    text: file.text,
  };
  return { value: skill, problems: fields.problems };
}

function readAllowed(fields: Fields): readonly string[] {
  const rules = fields.list('allowed-tools') ?? [];
  // A list of names may also be separated by blanks only.
  const texts = rules.flatMap((it) => (it.includes('(') ? [it] : it.split(/\s+/)));
  return texts.filter((text) => {
    const parsed = parseRule(text, 'allow', 'session');
    if (!parsed.ok) fields.report('allowed-tools', `${parsed.diagnostic.message}; the rule allows nothing`);
    return parsed.ok;
  });
}

/** The allow rules of a skill. */
export function rulesOf({ allowedTools }: Pick<Skill, 'allowedTools'>): Rule[] {
  return allowedTools.flatMap((text) => {
    const parsed = parseRule(text, 'allow', 'session');
    return parsed.ok ? [parsed.rule] : [];
  });
}

/** The first line with text, without the marks of a heading. */
function firstLine(body: string): string {
  const line = body.split('\n').find((it) => it.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').trim();
}

function oneLine(text: string): string {
  return truncate(text.replaceAll(/\s+/g, ' ').trim(), MAX_DESCRIPTION);
}

/** A kind of sub-agent that a file defines. */
export type AgentFile = {
  readonly name: string;
  readonly definition: AgentDefinition;
  readonly label: string;
};

/** Reads a kind of sub-agent. The permission mode of a file that is not approved is ignored. */
export function readAgent(file: DefinitionFile, isFileApproved: () => boolean): Read<AgentFile> {
  const parsed = parseFrontmatter(file.text);
  const fields = new Fields(parsed);
  const name = fields.text('name')?.trim() ?? '';
  if (name === '' || name === '__proto__') {
    const problem = { line: 1, message: 'the file is ignored, because its frontmatter has no "name"' };
    return { value: undefined, problems: [problem] };
  }
  const mode = fields.text('permissionMode');
  const isApproved = mode !== undefined && isFileApproved();
  if (mode !== undefined && !isApproved)
    fields.report(
      'permissionMode',
      'of a project file has no effect before the file is approved; run toolplane mcp approve',
    );
  const raw = {
    description: fields.text('description') ?? '',
    prompt: parsed.body.trim(),
    tools: allTools(fields.list('tools')),
    disallowedTools: fields.list('disallowedTools'),
    model: fields.text('model'),
    maxTurns: fields.count('maxTurns'),
    skills: fields.list('skills'),
    mcpServers: fields.list('mcpServers'),
    effort: fields.word('effort', EFFORT_LEVELS),
    isolation: fields.word('isolation', ['worktree']),
    background: fields.flag('background'),
    ...(isApproved && { permissionMode: mode }),
  };
  fields.ignore(...OF_OTHERS);
  fields.reportUnsupported(...UNSUPPORTED_MEMBERS, 'hooks');
  fields.reportUnknown();
  if (raw.description === '')
    fields.report('description', 'is missing; add one that tells the model when to use this agent');
  const own = file.plugin === undefined ? name : `${file.plugin}:${name}`;
  const definition = parseAgents({ [own]: raw })[own];
  if (isApproved && definition?.permissionMode === undefined)
    fields.report('permissionMode', `must be one of ${PERMISSION_MODES.join(', ')}`);
  return {
    value: definition && { name: own, definition, label: file.label },
    problems: fields.problems,
  };
}

/** `*` stands for all tools, as if the field were left out. */
function allTools(tools: readonly string[] | undefined): readonly string[] | undefined {
  return tools?.includes('*') ? undefined : tools;
}

/** Maximum number of characters of the list of skills for the model; beyond it, descriptions are left out. */
const MAX_LISTING = 24_000;

/** The lines up to the limit; beyond it only the names, up to one and a half times the limit. */
export function shortened(lines: readonly { readonly name: string; readonly text: string }[]): string[] {
  let length = 0;
  return lines.flatMap(({ name, text }) => {
    const shown = length + text.length <= MAX_LISTING ? text : `- ${name}`;
    length += shown.length + 1;
    return length <= MAX_LISTING * 1.5 ? [shown] : [];
  });
}
