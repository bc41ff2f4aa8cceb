import { messageOf } from '../../protocol/sdk-error.ts';
import {
  type ConfigInputs,
  type Configuration,
  mergeConfiguration,
  readConfiguration,
} from '../configuration.ts';
import { fatalDiagnostics } from '../explain/startup-messages.ts';
import { formatDiagnostic } from '../files/diagnostics.ts';
import type { ConfigDiagnostic, Source } from '../model.ts';
import { compareSettings, type FileState, type SettingsSource } from '../sources/source-types.ts';
import { FileWatcher } from './file-watcher.ts';

/** Called when the configuration changes. */
export type ConfigListener = {
  /** Called with the complete new configuration, for one change at a time. */
  apply(now: Configuration, before: Configuration): void | Promise<void>;
  /** Called with the reason why a saved change is not active; one line each, each once. */
  note(text: string): void;
};

/**
 * Applies changes of the configuration files. While a file is invalid, for example in the middle of an edit, its previous
 * content stays active.
 */
export class ConfigWatcher implements Disposable {
  readonly #followed: ConfigListener;
  readonly #watch: FileWatcher;
  #current: Configuration;
  #reported: ReadonlySet<string>;
  /** Files that could not be read when the configuration was last read. */
  #unusable: Map<string, string>;
  #work: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(first: Configuration, followed: ConfigListener) {
    this.#current = first;
    this.#followed = followed;
    this.#reported = new Set(first.faults.map(formatDiagnostic));
    this.#unusable = unusableFiles(first);
    this.#watch = new FileWatcher(pathsOf(first), first.readAt, () => void this.refresh());
  }

  /** The active configuration. */
  get current(): Configuration {
    return this.#current;
  }

  /** Reads and applies the configuration; resolves when that is done, and never rejects. */
  refresh(): Promise<void> {
    this.#work = this.#work
      .then(() => this.#read())
      // After an error, the next change is still applied.
      .catch((cause) =>
        this.#note(`changes of the configuration were not fully applied: ${messageOf(cause)}`),
      );
    return this.#work;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#watch[Symbol.dispose]();
  }

  async #read(): Promise<void> {
    if (this.#isOver) return;
    const before = this.#current;
    const now = await readConfiguration(before.context, before.flags);
    if (this.#isOver) return;
    this.#watch.set(pathsOf(now), now.readAt);
    const held = heldFiles(before, now);
    const texts = [...now.faults.map(formatDiagnostic), ...held.why];
    const news = texts.filter((text) => !this.#reported.has(text));
    this.#reported = new Set(texts);
    for (const text of news) this.#note(text);
    for (const text of recoveredMessages(this.#unusable, now)) this.#note(text);
    this.#unusable = unusableFiles(now);
    if (this.#isOver) return;
    // Only invalid files keep their previous content: changes of other files, such as new denials, apply at once.
    this.#current = withHeldFiles(before, now, held.paths);
    await this.#followed.apply(this.#current, before);
  }

  /** Reports a message. An error in the listener does not stop the watcher. */
  #note(text: string): void {
    try {
      this.#followed.note(text);
    } catch {
      // There is no other place to report it.
    }
  }
}

function pathsOf({ files }: Configuration): string[] {
  return files.map(({ path }) => path);
}

type Read = Pick<Configuration, 'files' | 'sources' | 'faults' | 'unreadPolicies'>;

/** Files whose previous content stays active, and the reasons, one line each. */
function heldFiles(
  before: Read,
  now: Read,
): { readonly paths: ReadonlySet<string>; readonly why: readonly string[] } {
  const [was, is] = [statesOf(before), statesOf(now)];
  const became = (state: FileState['state'], from: readonly FileState['state'][]) =>
    [...is.values()].flatMap(({ path, label, state: found }) => {
      const past = was.get(path)?.state;
      return found === state && past !== undefined && from.includes(past) ? [label] : [];
    });
  // A deleted file has no content any more; an unreadable one may be in the middle of an edit.
  const broken = became('unusable', ['read', 'blank', 'absent']);
  const emptied = became('blank', ['read']);
  const known = new Set(fatalDiagnostics(before).map(textOf));
  const fatal = fatalDiagnostics(now).filter((it) => !known.has(textOf(it)) && !broken.includes(it.label));
  const unfit = [...new Set(fatal.map(({ label }) => label))];
  const held = new Set([...broken, ...emptied, ...unfit]);
  return {
    paths: new Set([...is.values()].flatMap(({ path, label }) => (held.has(label) ? [path] : []))),
    why: [
      ...broken.map((label) => `${label} cannot be read; ${STAYS}`),
      ...emptied.map((label) => `${label} is empty; ${STAYS}; write {} to it to remove all settings`),
      ...unfit.map((label) => `${label} contains an error that Toolplane cannot start with; ${STAYS}`),
    ],
  };
}

/** The labels of unreadable files, by path. */
function unusableFiles(read: Read): Map<string, string> {
  const unusable = [...statesOf(read).values()].filter(({ state }) => state === 'unusable');
  return new Map(unusable.map(({ path, label }) => [path, label]));
}

/** A message for each file that was unreadable and can be read again. */
function recoveredMessages(unusable: ReadonlyMap<string, string>, now: Read): string[] {
  const states = statesOf(now);
  const readable = [...unusable].filter(([path]) => states.get(path)?.state === 'read');
  return readable.map(([, label]) => `${label} can be read again and is active`);
}

const STAYS = 'its previous content stays active';

/** All files by path. A file whose servers cannot be read is unusable, like one with invalid JSON. */
function statesOf({ files, sources }: Read): ReadonlyMap<string, FileState> {
  const unusable = sources.flatMap(({ path, label, state }) =>
    state === 'unusable' && path !== undefined ? [{ path, label, state }] : [],
  );
  return new Map([...files, ...unusable].map((it) => [it.path, it]));
}

/** Identifies a diagnostic without its position. */
function textOf({ label, key, message }: ConfigDiagnostic): string {
  return JSON.stringify([label, key, message]);
}

/** The new configuration with the previous content of the held files. */
function withHeldFiles(before: Configuration, now: Configuration, held: ReadonlySet<string>): Configuration {
  if (held.size === 0) return now;
  const isHeld = ({ path }: { readonly path?: string }) => path !== undefined && held.has(path);
  const labels = new Set(now.files.filter(isHeld).map(({ label }) => label));
  const previous = (source: Source) =>
    before.sources.find((it) => it.path === source.path && it.scope === source.scope) ?? source;
  const scopes = new Set(
    [...before.sources, ...before.settingsSources].filter(isHeld).map(({ scope }) => scope),
  );
  const { approvalsFault, ...rest } = now;
  const inputs: ConfigInputs = {
    ...rest,
    sources: now.sources.map((it) => (isHeld(it) ? previous(it) : it)),
    settingsSources: inOrder(
      [...now.settingsSources.filter((it) => !isHeld(it)), ...before.settingsSources.filter(isHeld)],
      now.files.map(({ path }) => path),
    ),
    files: now.files.map((it) =>
      isHeld(it) ? (before.files.find(({ path }) => path === it.path) ?? it) : it,
    ),
    sourceFaults: now.sourceFaults.filter(({ label }) => !labels.has(label)),
    unreadPolicies: now.unreadPolicies.filter((label) => !labels.has(label)),
    program: scopes.has('program') ? before.program : now.program,
    connectors: scopes.has('user') || scopes.has('managed') ? before.connectors : now.connectors,
    ...(approvalsFault !== undefined &&
      (before.approvalsFault === undefined ? { approvals: before.approvals } : { approvalsFault })),
  };
  return mergeConfiguration(inputs);
}

/** Lowest precedence first: of managed settings the first file has the highest, of others the last. */
function inOrder(settings: readonly SettingsSource[], paths: readonly string[]): SettingsSource[] {
  const placeOf = ({ scope, path }: SettingsSource) => {
    const place = path === undefined ? paths.length : paths.indexOf(path);
    return scope === 'managed' ? -place : place;
  };
  return settings.toSorted((a, b) => compareSettings(a, b) || placeOf(a) - placeOf(b));
}
