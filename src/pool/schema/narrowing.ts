import type { Meter } from './meter.ts';
import { describeCondition, FURTHER_CONDITIONS } from './shape.ts';
import { type Schema, withChanges, withNote } from './subschemas.ts';

/** What decides what may stay of one schema: `odd` are the objects that hold numbers JSON has no form for. */
type Aids = { readonly widening: Widening; readonly odd: ReadonlySet<unknown>; readonly meter: Meter };

/**
 * One schema of 2020-12 without the keywords that would refuse more because a schema in them now accepts more; they are
 * said in words. `original` is what the schema was written as, by which its marks are known.
 */
export function withoutNarrowing(schema: Schema, original: Schema, aids: Aids): Schema {
  const { widening } = aids;
  const changes = new Map<string, unknown>();
  const notes = new Set<string>();
  const say = (lead: string, condition: unknown, ...parts: unknown[]) =>
    notes.add(
      parts.some((it) => aids.odd.has(it))
        ? FURTHER_CONDITIONS
        : describeCondition(lead, condition, aids.meter),
    );
  const { not, if: condition, then, else: otherwise, oneOf } = schema;
  if (not !== undefined && widening.isWider(not)) {
    changes.set('not', undefined);
    say('Must not be', not, not);
  }
  if (condition !== undefined) {
    widening.linkCondition(condition, original);
    if (widening.isWider(condition)) {
      for (const key of ['if', 'then', 'else']) changes.set(key, undefined);
      say('Holds:', { if: condition, then, else: otherwise }, condition, then, otherwise);
    }
  }
  if (Array.isArray(oneOf) && oneOf.some((it) => widening.isWider(it))) {
    changes.set('oneOf', undefined);
    const { allOf } = schema;
    if (schema.anyOf === undefined) changes.set('anyOf', oneOf);
    else changes.set('allOf', [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }]);
    notes.add(ONLY_ONE);
  }
  if (schema.maxContains !== undefined && widening.isWider(schema.contains)) {
    changes.set('maxContains', undefined);
    notes.add(FURTHER_CONDITIONS);
  }
  const unseen = UNSEEN.filter((key) => schema[key] !== undefined);
  if (unseen.length > 0) {
    widening.linkUnseen(original);
    if (widening.isBlurred(original)) {
      for (const key of unseen) changes.set(key, undefined);
      notes.add(FURTHER_CONDITIONS);
    }
  }
  return changes.size === 0 ? schema : withNote(withChanges(schema, changes), [...notes].join(' '));
}

const UNSEEN = ['unevaluatedItems', 'unevaluatedProperties'];

const ONLY_ONE = 'Exactly one of the alternatives holds, which the server checks.';

/**
 * Knows which schemas of a document come out wider than they were, by themselves or by anything they are made of, also
 * through references. It is found out while they are rewritten, so an answer may turn out wrong: `settle` tells.
 */
export class Widening {
  readonly #meter: Meter;
  readonly #marked = new Set<unknown>();
  readonly #users = new Map<unknown, Set<unknown>>();
  readonly #blurs = new Map<unknown, object>();
  readonly #denied = new Set<unknown>();

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** The schema itself lost something: it accepts more, and may see fewer of a value's parts. */
  mark(schema: unknown): void {
    this.#marked.add(schema);
    this.#marked.add(this.#blurOf(schema));
  }

  /** A schema that stands in another, or that the other refers to; in place if it is for the same value. */
  link(part: unknown, whole: unknown, isInPlace: boolean): void {
    this.#imply(part, whole);
    if (isInPlace) this.#imply(this.#blurOf(part), this.#blurOf(whole));
  }

  /** If this condition is wider all of it goes, and with it what its branches saw. */
  linkCondition(condition: unknown, whole: unknown): void {
    this.#imply(condition, this.#blurOf(whole));
  }

  /** A schema that has a rule for what others did not see: it must not be asked if they now see less. */
  linkUnseen(schema: unknown): void {
    this.#imply(this.#blurOf(schema), schema);
  }

  /** Whether the schema accepts more than it did. */
  isWider(schema: unknown): boolean {
    return this.#has(schema);
  }

  /** Whether the schema may see fewer of a value's parts than it did. */
  isBlurred(schema: unknown): boolean {
    return this.#has(this.#blurOf(schema));
  }

  /** Follows all links; whether any answer given before would now be another. */
  settle(): boolean {
    // A set's iterator sees what is added meanwhile.
    for (const node of this.#marked) {
      const users = this.#users.get(node);
      if (users === undefined) continue;
      this.#meter.spend(users.size + 1);
      for (const user of users) this.#marked.add(user);
      this.#users.delete(node);
    }
    const isOther = this.#marked.size > 0 && [...this.#denied].some((node) => this.#marked.has(node));
    this.#denied.clear();
    return isOther;
  }

  #has(node: unknown): boolean {
    if (this.#marked.has(node)) return true;
    this.#denied.add(node);
    return false;
  }

  #imply(node: unknown, user: unknown): void {
    if (this.#marked.has(user)) return;
    const users = this.#users.get(node);
    if (users === undefined) this.#users.set(node, new Set([user]));
    else users.add(user);
  }

  #blurOf(schema: unknown): object {
    let blur = this.#blurs.get(schema);
    if (blur === undefined) {
      blur = {};
      this.#blurs.set(schema, blur);
    }
    return blur;
  }
}
