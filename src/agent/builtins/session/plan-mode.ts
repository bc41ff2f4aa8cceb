import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { replaceFile } from '../../../base/files/replace-file.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';

/** Maximum size of a plan. */
const MAX_PLAN_BYTES = 256 * 1024;

const WORDS: readonly (readonly string[])[] = [
  [
    'amber',
    'brisk',
    'calm',
    'clear',
    'deep',
    'early',
    'fair',
    'gentle',
    'green',
    'kind',
    'late',
    'light',
    'quiet',
    'round',
    'steady',
    'warm',
  ],
  [
    'autumn',
    'coastal',
    'copper',
    'desert',
    'forest',
    'garden',
    'granite',
    'harbor',
    'island',
    'maple',
    'marble',
    'meadow',
    'mountain',
    'river',
    'silver',
    'winter',
  ],
  [
    'bridge',
    'brook',
    'candle',
    'compass',
    'falcon',
    'ferry',
    'heron',
    'kettle',
    'lantern',
    'mill',
    'orchard',
    'otter',
    'path',
    'sail',
    'sparrow',
    'tower',
  ],
];

const PHASES = [
  '1. Understand the request: read the code that it concerns, and look for existing functions to use.',
  '2. Design: compare the ways to do it; ask the user where the decision is theirs.',
  '3. Review: check the design against the request and the code.',
  '4. Write the plan: the files to change, what changes in each, and how to verify the result.',
  '5. Present the plan for approval.',
].join('\n');

export type PlanModeDeps = {
  /** The directory of plan files. */
  directory(): string;
  mode(): PermissionMode;
  setMode(mode: PermissionMode): Promise<void>;
  /** Whether the model is offered a tool. */
  isOffered(tool: string): boolean;
};

/** Plan mode of a session: its plan file, the mode to return to, and what the model is told about it. */
export class PlanMode {
  /** Replaces the phases of the work in the reminder. */
  instructions: string | undefined;
  readonly #deps: PlanModeDeps;
  #file: string | undefined;
  #formerMode: PermissionMode = 'default';
  /** Whether the model was last told that plan mode is active. */
  #isAnnounced = false;

  constructor(deps: PlanModeDeps) {
    this.#deps = deps;
  }

  get isActive(): boolean {
    return this.#deps.mode() === 'plan';
  }

  /** The plan file, once the model has been told its path. */
  get announcedFile(): string | undefined {
    return this.#file;
  }

  /** The real path of the plan file, because permissions compare real paths. The file need not exist. */
  get file(): string {
    if (this.#file === undefined) {
      const given = this.#deps.directory();
      mkdirSync(given, { recursive: true, mode: 0o700 });
      const directory = realpathSync(given);
      do this.#file = join(directory, `${WORDS.map(pickFrom).join('-')}.md`);
      while (existsSync(this.#file));
    }
    return this.#file;
  }

  /** The content of the plan file; undefined if there is none or it is larger than `MAX_PLAN_BYTES`. */
  plan(): string | undefined {
    if (this.#file === undefined) return undefined;
    const found = statSync(this.#file, { throwIfNoEntry: false });
    if (!found?.isFile() || found.size > MAX_PLAN_BYTES) return undefined;
    return readFileSync(this.#file, 'utf8');
  }

  writePlan(plan: string): void {
    replaceFile(this.file, plan);
  }

  async enter(): Promise<void> {
    if (!this.isActive) await this.#deps.setMode('plan');
  }

  /** Returns to the mode before plan mode, unless the mode has been changed already. */
  async leave(): Promise<void> {
    if (this.isActive) await this.#deps.setMode(this.#formerMode);
  }

  modeChanged(before: PermissionMode, after: PermissionMode): void {
    if (after === 'plan') this.#formerMode = before;
  }

  /** Called when `/clear` starts another conversation, which gets a plan file of its own. */
  clear(): void {
    this.#file = undefined;
    this.#isAnnounced = false;
  }

  beforePrompt({ isFirst }: { readonly isFirst: boolean }): readonly string[] {
    if (isFirst) this.#isAnnounced = false;
    const isKnown = this.isActive && this.#isAnnounced;
    return isKnown
      ? [`Plan mode is still active: change nothing but the plan file ${this.file}.`]
      : this.afterRound();
  }

  beforeSubAgent(): readonly string[] {
    return this.isActive
      ? ['Plan mode is active: only read and search; change no files and no other state.']
      : [];
  }

  afterRound(): readonly string[] {
    if (this.isActive === this.#isAnnounced) return [];
    this.#isAnnounced = this.isActive;
    return [this.isActive ? this.#entered() : this.#left()];
  }

  #entered(): string {
    const plan = this.plan();
    const { isOffered } = this.#deps;
    const end = isOffered('ExitPlanMode')
      ? 'When the plan is complete, call ExitPlanMode, which asks the user for approval. Do not ask for approval in another way.'
      : 'When the plan is complete, end the turn with a summary of it.';
    return [
      'Plan mode is active: the user does not want any changes yet. Do not edit files, do not run commands that change ' +
        'something, and change no other state, whatever earlier instructions say. The plan file is the only exception.',
      `Plan file: ${this.file} (${plan === undefined ? 'does not exist yet: create it with Write' : 'exists: read it and continue it'})`,
      `How to work:\n${this.instructions ?? PHASES}`,
      end,
    ].join('\n\n');
  }

  #left(): string {
    const where = this.plan() === undefined ? '' : ` The plan is in ${this.file}.`;
    return `Plan mode is over: you may edit files and run commands again.${where}`;
  }
}

/** Whether a file has the name of a plan file. */
export function isPlanFile(path: string): boolean {
  const words = basename(path, '.md').split('-');
  return words.length === WORDS.length && WORDS.every((known, at) => known.includes(words[at] ?? ''));
}

function pickFrom(words: readonly string[]): string {
  return words[Math.floor(Math.random() * words.length)] as string;
}
