import { anyOf } from './forms.ts';
import { FreshNames } from './fresh-names.ts';
import type { Meter } from './meter.ts';
import type { Schema } from './subschemas.ts';

/** What shapes are merged with: a bound on the work, and definitions for forms that many properties have. */
export class Merging {
  readonly meter: Meter;
  readonly #names: FreshNames;
  readonly #known = new Map<string, string>();
  readonly #definitions = new Map<string, Schema>();

  constructor(taken: Iterable<string>, meter: Meter) {
    this.#names = new FreshNames(taken);
    this.meter = meter;
  }

  /** By their names, the forms that were referred to. */
  get definitions(): ReadonlyMap<string, Schema> {
    return this.#definitions;
  }

  /**
   * The forms a property may have, ready to be written for so many properties: themselves, or one reference to all of them
   * if they would take too much room.
   */
  forEach(forms: readonly unknown[], properties: number): readonly unknown[] {
    if (properties < 2 || forms.length === 0 || forms.every((it) => it === true)) return forms;
    this.meter.walk(forms);
    const text = JSON.stringify(forms);
    if (text.length * properties <= ROOM || text.length <= SHORT) return forms;
    let name = this.#known.get(text);
    if (name === undefined) {
      name = this.#names.next('rest');
      this.#known.set(text, name);
      this.#definitions.set(name, anyOf(forms, this.meter));
    }
    return [{ $ref: `#/$defs/${name}` }];
  }
}

/** About what a model may read of the same form again and again before a reference is the lesser evil. */
const ROOM = 4000;
/** A reference is not shorter than this. */
const SHORT = 40;
