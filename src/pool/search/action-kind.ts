import type { QueryTerm } from './expand-query.ts';
import { splitWords, stem } from './tokenize.ts';

/** The kind of action of a tool. */
export type ActionKind = 'make' | 'remove' | 'change' | 'read';
/** How likely each kind is requested, from 0 to 1, and whether the query is a question. */
export type RequestedActions = { acts: Record<ActionKind, number>; isQuestion: boolean };

const VERBS: Readonly<Record<ActionKind, string>> = {
  make: 'create add new insert make register generate upload post send submit write put append publish invite schedule book compose import draw launch deploy build',
  remove:
    'delete remove archive drop destroy unassign clear purge cancel revoke disable kill terminate stop uninstall detach suspend close unlink erase',
  change:
    'update edit change modify set patch rename move replace assign toggle configure enable manage restore reset merge',
  read: 'get list search find read retrieve query fetch show describe count view check lookup browse inspect explore report stat status history analyze compare preview export download',
};

const KIND_BY_VERB = new Map(
  (Object.keys(VERBS) as ActionKind[]).flatMap((act) =>
    VERBS[act].split(' ').map((word) => [stem(word), act] as const),
  ),
);

/** The kind of action that a tool's name states, by its first known verb. */
export function actionKindOf(name: string, stemOf = stem): ActionKind | undefined {
  for (const word of splitWords(name)) {
    const act = KIND_BY_VERB.get(stemOf(word));
    if (act !== undefined) return act;
  }
  return undefined;
}

/** The kinds of action that a query requests. A question requests reading, unless it is a polite request. */
export function requestedActions(text: string, terms: readonly QueryTerm[]): RequestedActions {
  const acts = { make: 0, remove: 0, change: 0, read: 0 };
  for (const { weight, options } of terms) {
    for (const [term, closeness] of options) {
      const act = KIND_BY_VERB.get(term);
      if (act !== undefined) acts[act] = Math.max(acts[act], Math.min(1, weight * closeness));
    }
  }
  const isQuestion = !REQUEST.test(text) && QUESTION.test(text);
  if (isQuestion) acts.read = 1;
  return { acts, isQuestion };
}

const REQUEST = /^\s*(?:can|could|would|will|please)\b/i;
const QUESTION =
  /[?？]\s*$|^\s*(?:what|which|who|where|when|why|how|is|are|was|were|does|do|did|has|have)\b/i;

/** The share of the score that a tool of another kind loses, and the additional share for a question. */
const OTHER = 0.15;
const NO_ANSWER = 0.18;

/** The share of its score that a tool of each kind keeps. */
export function actionFactors({ acts, isQuestion }: RequestedActions): Record<ActionKind, number> {
  const strongest = Math.max(acts.make, acts.remove, acts.change, acts.read);
  const lost = isQuestion ? NO_ANSWER : 0;
  return {
    make: 1 - OTHER * (strongest - acts.make) - lost,
    remove: 1 - OTHER * (strongest - acts.remove) - lost,
    change: 1 - OTHER * (strongest - acts.change) - lost,
    read: 1 - OTHER * (strongest - acts.read),
  };
}
