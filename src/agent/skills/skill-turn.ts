import type { Rule } from '../../permissions/rule.ts';
import type { RuleSet, RuleStore } from '../../permissions/rule-store.ts';

/** What the skills of one agent have changed for the rest of its turn: the model, and calls that need no approval. */
export class SkillTurn {
  model: string | undefined;
  #rules: readonly Rule[] = [];

  /** `rules`: the `allowed-tools` of the skill for which a sub-agent was started (`context: fork`). */
  constructor(rules: readonly Rule[] = []) {
    this.#rules = rules;
  }

  get rules(): readonly Rule[] {
    return this.#rules;
  }

  allow(rules: readonly Rule[]): void {
    if (rules.length > 0) this.#rules = [...this.#rules, ...rules];
  }

  /** Called when a turn begins. */
  reset(): void {
    this.model = undefined;
    this.#rules = [];
  }

  /** The store with these rules added. Its rules are the same array while nothing changes: caches compare it by identity. */
  over(store: RuleStore): RuleStore {
    let last:
      | { readonly given: readonly Rule[]; readonly own: readonly Rule[]; readonly rules: Rule[] }
      | undefined;
    return {
      apply: store.apply,
      ...(store.keeps && { keeps: store.keeps }),
      current: (): RuleSet => {
        const given = store.current();
        const own = this.#rules;
        if (own.length === 0) return given;
        if (last?.given !== given.rules || last.own !== own)
          last = { given: given.rules, own, rules: [...given.rules, ...own] };
        return { ...given, rules: last.rules };
      },
    };
  }
}
