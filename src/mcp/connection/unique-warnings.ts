import type { WarningSubject } from './connect-context.ts';

/** Maximum number of different warnings about one server. */
const MAX_WARNINGS = 200;

/** Reports each warning once, since a server is listed often. */
export class UniqueWarnings {
  readonly #report: (message: string, subject?: WarningSubject) => void;
  readonly #reported = new Set<string>();

  constructor(report: (message: string, subject?: WarningSubject) => void) {
    this.#report = report;
  }

  report(message: string, subject?: WarningSubject): void {
    if (this.#reported.has(message) || this.#reported.size > MAX_WARNINGS) return;
    this.#reported.add(message);
    if (this.#reported.size > MAX_WARNINGS) {
      this.#report(`its lists have more than ${MAX_WARNINGS} problems; further ones are not reported`);
    } else this.#report(message, subject);
  }
}
