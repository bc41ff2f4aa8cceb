import type { AgentDefinition } from '../builtins/agents/agent-definition.ts';
import type { DefinitionFile, DefinitionProblem } from './definition-files.ts';
import { readAgent } from './skill.ts';

/** Adds the kinds of sub-agents of files to those of a session, and removes those whose files are gone. */
export class AgentFiles {
  readonly #agents: Record<string, AgentDefinition>;
  readonly #isApproved: (file: DefinitionFile) => boolean;
  /** The definitions that came from files. */
  readonly #own = new Map<string, AgentDefinition>();

  /** `agents` are the kinds of the session: built-in ones, and those of the program, which take precedence. */
  constructor(agents: Record<string, AgentDefinition>, isApproved: (file: DefinitionFile) => boolean) {
    this.#agents = agents;
    this.#isApproved = isApproved;
  }

  /** `files` are all files, lowest precedence first. Returns their problems. Approvals may have changed since the last call. */
  update(files: readonly DefinitionFile[]): readonly DefinitionProblem[] {
    const found = new Map<string, AgentDefinition>();
    const problems: DefinitionProblem[] = [];
    for (const file of files) {
      const { value, problems: own } = readAgent(file, () => this.#isApproved(file));
      problems.push(...own.map((problem) => ({ label: file.label, ...problem })));
      if (value) found.set(value.name, value.definition);
    }
    for (const [name, own] of this.#own) {
      if (found.has(name)) continue;
      if (this.#agents[name] === own) delete this.#agents[name];
      this.#own.delete(name);
    }
    for (const [name, definition] of found) {
      const own = this.#own.get(name);
      const isFree = !Object.hasOwn(this.#agents, name) || this.#agents[name] === own;
      if (!isFree || JSON.stringify(own) === JSON.stringify(definition)) continue;
      this.#agents[name] = definition;
      this.#own.set(name, definition);
    }
    return problems;
  }
}
