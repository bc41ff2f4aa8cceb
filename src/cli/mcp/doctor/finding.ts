/** How bad something is; `waiting` is for a person to decide, and nothing is broken by it. */
export type Level = 'ok' | 'warning' | 'waiting' | 'error';

/** One thing that was looked at. */
export type Finding = {
  readonly check: string;
  readonly level: Level;
  /** One sentence without a full stop. */
  readonly text: string;
  /** What to type or to edit. */
  readonly fix?: string;
};

/** One file or server, and what was found about it. */
export type Checked = { readonly name: string; readonly level: Level; readonly findings: readonly Finding[] };

/** What `toolplane mcp doctor --json` prints. */
export type DoctorReport = {
  readonly files: readonly Checked[];
  readonly servers: readonly (Checked & ServerFigures)[];
  readonly broken: number;
  readonly warnings: number;
  readonly waiting: number;
};

/** What is known of a server that answered. */
export type ServerFigures = {
  readonly ms?: number;
  readonly tools?: number;
  readonly tokens?: number;
};

const ORDER: readonly Level[] = ['ok', 'warning', 'waiting', 'error'];

/** The worst of what was found. */
export function checked(name: string, findings: readonly Finding[]): Checked {
  const at = Math.max(0, ...findings.map(({ level }) => ORDER.indexOf(level)));
  return { name, level: ORDER[at] as Level, findings };
}

/** All of it, counted. */
export function report(
  files: readonly Checked[],
  servers: readonly (Checked & ServerFigures)[],
): DoctorReport {
  const count = (level: Level) => [...files, ...servers].filter((it) => it.level === level).length;
  return {
    files,
    servers,
    broken: count('error'),
    warnings: count('warning'),
    waiting: count('waiting'),
  };
}
