import type { CanUseTool, OnElicitation } from '../sdk/callbacks.ts';
import { ruleTexts } from './rule-text.ts';

const NOBODY = 'Permission is needed and nobody is there to give it.';

/** Answers for a person who is not there, and remembers what they would have been asked. */
export class Unasked {
  readonly #rules = new Map<string, Set<string>>();
  readonly #servers = new Set<string>();

  readonly #onDenied: (toolUseId: string, reason: string) => void;

  constructor(onDenied: (toolUseId: string, reason: string) => void) {
    this.#onDenied = onDenied;
  }

  readonly canUseTool: CanUseTool = async (tool, _, { suggestions = [], toolUseID }) => {
    const allowing = suggestions.filter((it) => 'behavior' in it && it.behavior === 'allow');
    const rules = ruleTexts(allowing);
    const known = this.#rules.get(tool) ?? new Set();
    for (const rule of rules.length > 0 ? rules : [tool]) known.add(rule);
    this.#rules.set(tool, known);
    this.#onDenied(toolUseID, NOBODY);
    return { behavior: 'deny', message: NOBODY };
  };

  readonly onElicitation: OnElicitation = async ({ serverName }) => {
    this.#servers.add(serverName);
    return { action: 'decline' };
  };

  /** One line for each thing that would have been asked. */
  get lines(): string[] {
    return [
      ...[...this.#rules].map(
        ([tool, rules]) => `${tool} was denied, nobody could be asked: allow it with ${flagsFor(rules)}`,
      ),
      ...[...this.#servers].map((server) => `server ${server} asked something and was declined`),
    ];
  }
}

function flagsFor(rules: ReadonlySet<string>): string {
  return [...rules].map((rule) => `--allowedTools '${rule.replaceAll("'", "'\\''")}'`).join(' ');
}
