import { nearest } from '../../base/text/nearest.ts';
import type { ConfigContext } from '../../config/config-context.ts';
import type { Rule } from '../../permissions/rule.ts';
import type { AgentOutput } from '../../protocol/tools/task-tools.ts';
import type { AgentDefinition } from '../builtins/agents/agent-definition.ts';
import type { AgentService } from '../builtins/agents/agent-service.ts';
import type { SkillRequest, SkillService } from '../builtins/session/skill-service.ts';
import { failedOutcome, type ToolOutcome, toolUseError } from '../loop/run-calls.ts';
import { AgentFiles } from './agent-files.ts';
import {
  type DefinitionFile,
  DefinitionFiles,
  type DefinitionProblem,
  type DefinitionRoot,
  formatProblem,
} from './definition-files.ts';
import { expandSkill } from './expand-skill.ts';
import { mentionedFiles } from './mentioned-files.ts';
import { DEFAULT_STYLE, type OutputStyle, outputStyles, styleReminders } from './output-styles.ts';
import { ServerSkills, type ServerSkillsDeps } from './server-skills.ts';
import { readSkill, rulesOf, type Skill, shortened } from './skill.ts';
import { type PromptContext, runParts } from './skill-commands.ts';
import { SkillTurn } from './skill-turn.ts';

/** Where skills, commands, kinds of sub-agents and output styles come from. */
export type DefinitionSource = {
  readonly context: Pick<ConfigContext, 'cwd' | 'userHome'>;
  /** Lowest precedence first. */
  roots(): readonly DefinitionRoot[];
  /** Whether the user has approved a file of the project, or trusts the repository. */
  isApproved(file: { readonly path: string; readonly text: string }): boolean;
  /** The style that settings name. */
  outputStyle(): string | undefined;
};

export type SkillsDeps = {
  readonly source: DefinitionSource | undefined;
  /** The kinds of sub-agents of the session, by name; those of files are added to it. */
  readonly agents: Record<string, AgentDefinition>;
  context(): PromptContext;
  /** The features of the connected servers. */
  features: ServerSkillsDeps['features'];
  /** The sub-agents as the lead uses them. */
  leadAgents(): AgentService | undefined;
  sessionId(): string;
  /** Whether the lead can use the tool `Skill`. */
  isOffered(): boolean;
  resolveModel(name: string): string;
  note(text: string): void;
};

/** The agent that uses skills. */
export type SkillUser = {
  readonly turn: SkillTurn;
  readonly agents: AgentService | undefined;
  /** The rules of the agent. */
  context(): PromptContext;
};

/** What a slash command does: a prompt for the model, or an answer of the agent itself. */
export type SlashOutcome =
  | { readonly kind: 'prompt'; readonly texts: readonly string[]; readonly mentions: readonly string[] }
  | { readonly kind: 'answer'; readonly text: string };

/** A slash command, as programs see it. */
export type SlashCommand = {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string;
  readonly aliases?: readonly string[];
};

/**
 * The skills, slash commands, kinds of sub-agents and output styles that files define. The files are compared with what is
 * known before each prompt, so that a new or changed file is used from the next prompt on.
 */
export class Skills {
  /** What skills have changed for the lead in this turn. */
  readonly turn = new SkillTurn();
  readonly lead: SkillUser;
  readonly #deps: SkillsDeps;
  readonly #files: DefinitionFiles | undefined;
  readonly #notes = new Set<string>();
  readonly #agents: AgentFiles;
  readonly #servers: ServerSkills;
  #isRead = false;
  #skills = new Map<string, Skill>();
  #agentFiles: readonly DefinitionFile[] = [];
  #styles: ReadonlyMap<string, OutputStyle> = outputStyles([]).styles;
  #problems: readonly DefinitionProblem[] = [];
  /** The skills that the program selected; undefined for all. */
  #selected: ReadonlySet<string> | undefined;
  /** The skills that the model was told of. */
  #listed = '';

  constructor(deps: SkillsDeps) {
    this.#deps = deps;
    const { turn } = this;
    this.lead = {
      turn,
      get agents() {
        return deps.leadAgents();
      },
      context: () => deps.context(),
    };
    const { source, agents } = deps;
    this.#servers = new ServerSkills({
      features: () => deps.features(),
      note: (text) => this.#noteOnce(text),
    });
    this.#agents = new AgentFiles(agents, (file) => this.#isApproved(file));
    if (source) this.#files = new DefinitionFiles(() => source.roots(), source.context);
  }

  /** Reads new and changed files; nothing happens if there are none. */
  refresh(): void {
    const read = this.#files?.read();
    if (!read || (this.#isRead && !read.hasChanged)) {
      this.#readAgents();
      return;
    }
    this.#isRead = true;
    const problems: DefinitionProblem[] = [...read.problems];
    const add = (label: string, lines: readonly { line: number; message: string }[]) =>
      void problems.push(...lines.map((it) => ({ label, ...it })));
    const found = read.files.flatMap((file) => {
      if (file.kind !== 'skill' && file.kind !== 'command') return [];
      const { value, problems: own } = readSkill(file);
      add(file.label, own);
      return value ?? [];
    });
    this.#skills = new Map(found.toSorted(byPrecedence).map((skill) => [skill.name, skill]));
    const { styles, problems: ofStyles } = outputStyles(read.files.filter(({ kind }) => kind === 'style'));
    this.#styles = styles;
    for (const { label, problems: own } of ofStyles) add(label, own);
    this.#agentFiles = read.files.filter(({ kind }) => kind === 'agent');
    this.#problems = problems;
    for (const problem of problems) this.#noteOnce(formatProblem(problem));
    this.#readAgents();
  }

  #readAgents(): void {
    for (const problem of this.#agents.update(this.#agentFiles)) this.#noteOnce(formatProblem(problem));
  }

  /** Called before each prompt. */
  beginTurn(): void {
    this.turn.reset();
    this.refresh();
  }

  /** Lists the skills of connected servers. */
  refreshServers(signal: AbortSignal): Promise<void> {
    return this.#servers.refresh(signal);
  }

  /** All problems of the files. */
  get problems(): readonly DefinitionProblem[] {
    return this.#problems;
  }

  /** Limits what the model may use to these names. */
  select(names: readonly string[] | undefined): void {
    this.#selected = names && new Set(names);
  }

  /** All skills and commands: skills first, those of plugins and servers last. */
  get all(): readonly Skill[] {
    const rank = ({ plugin, kind }: Skill) => (plugin === undefined ? Number(kind === 'command') : 2);
    const ofServers = this.#servers.all.filter(({ name }) => this.find(name)?.isOfServer);
    return [...this.#skills.values(), ...ofServers].toSorted(
      (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1),
    );
  }

  /** The slash commands. */
  get commands(): readonly SlashCommand[] {
    return this.all
      .filter(({ isForUsers }) => isForUsers)
      .map(({ name, alias, description, argumentHint, scope, plugin }) => ({
        name,
        description: plugin === undefined ? `${description} (${scope})` : `(${plugin}) ${description}`,
        argumentHint,
        ...(alias !== undefined && { aliases: [alias] }),
      }));
  }

  /** The names of the skills that users can run. */
  get names(): readonly string[] {
    return this.all
      .filter(({ kind, isForUsers, isDescribed }) => kind === 'skill' && isForUsers && isDescribed)
      .map(({ name }) => name);
  }

  /** The name of the output style in use. A style that no file defines has no effect. */
  get styleName(): string {
    return this.#style?.name ?? DEFAULT_STYLE;
  }

  /** The plugins, as programs see them. */
  get plugins(): readonly { readonly name: string; readonly path: string; readonly source: string }[] {
    const roots = this.#deps.source?.roots() ?? [];
    return roots.flatMap(({ plugin, directory }) =>
      plugin === undefined ? [] : [{ name: plugin, path: directory, source: `${plugin}@inline` }],
    );
  }

  get styleNames(): readonly string[] {
    return [DEFAULT_STYLE, ...this.#styles.keys()];
  }

  get #style(): OutputStyle | undefined {
    const name = this.#deps.source?.outputStyle();
    if (name === undefined || name === DEFAULT_STYLE) return undefined;
    const found = this.#styles.get(name);
    if (!found && this.#isRead)
      this.#noteOnce(
        `the output style ${JSON.stringify(name)} does not exist; available: ${this.styleNames.join(', ')}`,
      );
    return found;
  }

  /** The texts before a prompt: the style, and the skills that the model has not been told of. */
  beforePrompt({ isFirst }: { readonly isFirst: boolean }): string[] {
    const style = this.#style;
    return [...(style ? styleReminders(style, isFirst) : []), ...this.#listing(isFirst)];
  }

  #listing(isFirst: boolean): string[] {
    const skills = this.#deps.isOffered() ? this.all.filter((it) => this.#isListed(it)) : [];
    const lines = shortened(
      skills.map(({ name, alias, description }) => {
        const shown = alias === undefined ? name : `${name} (${alias})`;
        return { name, text: `- ${shown}: ${description}` };
      }),
    );
    const text = lines.join('\n');
    if (!isFirst && text === this.#listed) return [];
    const hadSome = this.#listed !== '';
    this.#listed = text;
    if (lines.length === 0)
      return !isFirst && hadSome ? ['The skills listed before are no longer available.'] : [];
    const intro =
      isFirst || !hadSome
        ? 'The following skills are available for use with the Skill tool:'
        : 'The skills have changed. These are available for use with the Skill tool now:';
    return [`${intro}\n\n${text}`];
  }

  #isListed({ name, alias, isForModel }: Skill): boolean {
    return isForModel && this.#isSelected(name, alias);
  }

  #isSelected(name: string, alias: string | undefined): boolean {
    const selected = this.#selected;
    return !selected || selected.has(name) || (alias !== undefined && selected.has(alias));
  }

  /** The skill with the name or alias; that of a file rather than that of a server. */
  find(given: string): Skill | undefined {
    const name = bareName(given);
    const ofFile = this.#skills.get(name) ?? [...this.#skills.values()].find(({ alias }) => alias === name);
    return ofFile ?? this.#servers.find(name);
  }

  /** The skills as the tools of one agent use them. */
  serviceFor(user: SkillUser): SkillService {
    return {
      doubt: (name) => {
        const skill = this.find(name);
        if (!skill || skill.allowedTools.length === 0) return undefined;
        return `the skill ${skill.name} allows ${skill.allowedTools.join(', ')} for the rest of the turn`;
      },
      use: (request, signal) => this.#use(request, user, signal),
    };
  }

  async #use(request: SkillRequest, user: SkillUser, signal: AbortSignal): Promise<ToolOutcome> {
    const skill = this.find(request.name);
    if (!skill) return toolUseError(`Unknown skill: ${request.name}.${this.#guess(request.name)}`);
    const { name, model } = skill;
    // Programs see the name that the model used.
    const used = skill.alias === bareName(request.name) ? skill.alias : name;
    if (!skill.isForModel)
      return toolUseError(
        `Skill ${name} cannot be used with Skill tool due to disable-model-invocation. Ask the user to run /${name}; do not do the work of the skill in another way.`,
      );
    if (!this.#isSelected(name, skill.alias))
      return toolUseError(`Skill ${name} is not in this session's skills allowlist`);
    const expanded = await this.#expand(skill, request.args, user, signal, request.isApproved);
    if ('fault' in expanded) return failedOutcome(expanded.fault);
    const { text, rules } = expanded;
    if (skill.agent !== undefined) return this.#fork(skill, text, rules, request.toolUseId, user, signal);
    user.turn.allow(rules);
    const resolved = model === undefined ? undefined : this.#deps.resolveModel(model);
    if (resolved !== undefined) user.turn.model = resolved;
    return {
      content: `Launching skill: ${used}`,
      isError: false,
      programResult: {
        success: true,
        commandName: used,
        ...(skill.allowedTools.length > 0 && { allowedTools: skill.allowedTools }),
        ...(resolved !== undefined && { model: resolved }),
      },
      followUp: [text],
    };
  }

  #guess(name: string): string {
    const guess = nearest(
      name,
      this.all.filter((it) => this.#isListed(it)).map((it) => it.name),
    );
    return guess === undefined ? '' : ` Did you mean ${guess}?`;
  }

  /** Runs a skill in a sub-agent and waits for its report. */
  async #fork(
    skill: Skill,
    prompt: string,
    rules: readonly Rule[],
    toolUseId: string,
    { agents }: Pick<SkillUser, 'agents'>,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const { name, model, agent = 'general-purpose' } = skill;
    if (!agents) return failedOutcome(`Skill ${name} runs in a sub-agent, and sub-agents are not available`);
    const request = {
      toolUseId,
      description: `/${name}`,
      prompt,
      type: agent,
      model,
      isBackground: false,
      isIsolated: false,
      skill: { name, rules },
    };
    const outcome = await agents.start(request, signal);
    const output = outcome.programResult as AgentOutput | undefined;
    if (outcome.isError || output?.status !== 'completed') return outcome;
    const result = output.content.map(({ text }) => text).join('\n');
    return {
      content: `Skill "${name}" completed (forked execution).\n\nResult:\n${result}`,
      isError: false,
      programResult: { success: true, commandName: name, status: 'forked', agentId: output.agentId, result },
    };
  }

  /** Fills in the arguments and runs the commands of the text. `rules` are what the skill allows. */
  async #expand(
    skill: Skill,
    args: string,
    user: SkillUser,
    signal: AbortSignal,
    isAllowedByPerson: boolean,
  ): Promise<{ readonly text: string; readonly rules: readonly Rule[] } | { readonly fault: string }> {
    if (skill.isOfServer) {
      const loaded = await this.#servers.load(skill.name, args, signal);
      return 'fault' in loaded ? loaded : { text: loaded.text, rules: [] };
    }
    const isTrusted = this.#isApproved(skill);
    const rules = isTrusted || isAllowedByPerson ? rulesOf(skill) : [];
    if (rules.length === 0 && skill.allowedTools.length > 0)
      this.#noteOnce(
        `${skill.label}: "allowed-tools" has no effect before the file is approved; run toolplane mcp approve`,
      );
    const root = this.#deps.source
      ?.roots()
      .find(({ plugin }) => plugin !== undefined && plugin === skill.plugin);
    const parts = expandSkill(skill, {
      args,
      sessionId: this.#deps.sessionId(),
      pluginDirectory: root?.directory,
    });
    const refusal = isTrusted
      ? undefined
      : `${skill.label} is not approved: commands of project files run only after approval; run toolplane mcp approve`;
    const rights = { rules, mayRead: isTrusted, refusal };
    const run = await runParts(parts, rights, user.context(), signal);
    return 'fault' in run ? run : { text: run.text, rules };
  }

  #isApproved({ scope, path, text }: Pick<Skill, 'scope' | 'path' | 'text'>): boolean {
    return scope !== 'project' || this.#deps.source?.isApproved({ path, text }) === true;
  }

  /** Runs `/name args`; undefined if the text is not the command of a file. */
  async runSlashCommand(given: string, signal: AbortSignal): Promise<SlashOutcome | undefined> {
    const user = this.lead;
    const [, typed = '', rest = ''] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(given.trim()) ?? [];
    const skill = this.find(typed);
    if (!skill) return undefined;
    const { name } = skill;
    const answer = (text: string): SlashOutcome => ({ kind: 'answer', text });
    if (!skill.isForUsers)
      return answer(
        `This skill can only be invoked by the model, not directly by users. Ask the agent to use the "${name}" skill.`,
      );
    const args = rest.trim();
    const expanded = await this.#expand(skill, args, user, signal, false);
    signal.throwIfAborted();
    if ('fault' in expanded) return answer(expanded.fault);
    const { text, rules } = expanded;
    if (skill.agent !== undefined) {
      const outcome = await this.#fork(skill, text, rules, `forked-command-${name}`, user, signal);
      const result = (outcome.programResult as { readonly result?: string } | undefined)?.result;
      return answer(
        result ??
          (typeof outcome.content === 'string' ? outcome.content : 'The skill ended without a report'),
      );
    }
    user.turn.allow(rules);
    if (skill.model !== undefined) user.turn.model = this.#deps.resolveModel(skill.model);
    const head = [
      `<command-message>${name}</command-message>`,
      `<command-name>/${name}</command-name>`,
      ...(args === '' ? [] : [`<command-args>${escaped(args)}</command-args>`]),
    ];
    return {
      kind: 'prompt',
      texts: [`${head.join('\n')}\n`, text],
      // The text of a server must not cause files to be read.
      mentions: await mentionedFiles(skill.isOfServer ? args : text, user.context(), signal),
    };
  }

  /** The texts of skills that follow the first prompt of a sub-agent. Unknown skills are left out, with a note. */
  async preloaded(
    type: string,
    names: readonly string[],
    user: SkillUser,
    signal: AbortSignal,
  ): Promise<string[]> {
    const texts: string[] = [];
    for (const given of names) {
      const skill = this.find(given);
      const expanded = skill && (await this.#expand(skill, '', user, signal, false));
      if (!expanded || 'fault' in expanded) {
        this.#deps.note(
          `skill ${JSON.stringify(given)} of the sub-agent ${JSON.stringify(type)} is not loaded: ${expanded?.fault ?? 'no skill has this name; correct "skills" in its definition'}`,
        );
        continue;
      }
      const head = [
        `<command-message>${skill.name}</command-message>`,
        `<command-name>${skill.name}</command-name>`,
        '<skill-format>true</skill-format>',
      ];
      texts.push(head.join('\n'), expanded.text);
    }
    return texts;
  }

  /** A text before a prompt that begins like a command that does not exist; undefined for other prompts. */
  unknownCommand(given: string, known: readonly string[]): string | undefined {
    const name = /^\/([\p{L}_][\p{L}\p{N}_:-]*)(?=\s|$)/u.exec(given.trim())?.[1];
    if (name === undefined || known.includes(name) || this.find(name)) return undefined;
    const shown = known.slice(0, MAX_KNOWN).map((it) => `/${it}`);
    const more = known.length > shown.length ? `, and ${known.length - shown.length} more` : '';
    return (
      `The message of the user begins with the slash command /${name}. There is no such command in this session, so nothing was run. ` +
      `Available commands: ${shown.join(', ')}${more}. Treat the message as an ordinary request. If it needs that command, say that it does not exist here; do not claim that it ran.`
    );
  }

  #noteOnce(text: string): void {
    if (this.#notes.has(text) || this.#notes.size > MAX_NOTES) return;
    this.#notes.add(text);
    this.#deps.note(text);
  }
}

const MAX_KNOWN = 20;
const MAX_NOTES = 200;

/** Plugins have names of their own; of the same name, the user's file is used, and a skill rather than a command. */
function byPrecedence(a: Skill, b: Skill): number {
  const rank = ({ scope, kind }: Skill) => RANKS.indexOf(scope) * 2 + (kind === 'skill' ? 1 : 0);
  return rank(a) - rank(b);
}

const RANKS: readonly Skill['scope'][] = ['plugin', 'project', 'user'];

/** A name without the slash that it may be written with. */
function bareName(given: string): string {
  return given.trim().replace(/^\//, '');
}

/** Arguments cannot end the element. */
function escaped(text: string): string {
  return text.replaceAll(/<(?=\/?command-(?:args|name|message)\b)/gi, '&lt;');
}
