/** One check of a scenario, as written by the suite. */
export type Check = {
  id: string;
  name?: string;
  status: string;
  errorMessage?: string;
  description?: string;
};

/** One scenario as the suite ran it; without checks the suite could not run it. */
export type Outcome = {
  scenario: string;
  checks: readonly Check[] | undefined;
  /** The output of the client; absent for a server scenario. */
  client?: { stdout: string; stderr: string };
};

/** The result of one scenario of one set. `pass` is null if nothing was scored; `note` then has the reason. */
export type Row = { name: string; pass: boolean | null; note: string };

/** A row, and the number of successful checks. */
export type Judged = Row & { checks: number };

/** A scenario passes with at least one check, no failure or warning, and, in a client scenario, a client that finished. */
export function judge(set: string, { scenario, checks, client }: Outcome): Judged {
  const name = `${set} ${scenario}`;
  if (!checks) return { name, pass: false, note: 'the suite could not run it', checks: 0 };
  const of = (status: string) => checks.filter((check) => check.status === status);
  const passed = of('SUCCESS').length;
  const wrong = [...of('FAILURE'), ...of('WARNING')];
  const isDone = client?.stdout.includes('DONE') ?? true;
  const faults = [
    ...wrong.map(sayCheck),
    ...(isDone ? [] : [`the client ended early: ${lastWords(client?.stderr ?? '')}`]),
  ];
  if (faults.length > 0) return { name, pass: false, note: sayFaults(passed, faults), checks: passed };
  if (passed === 0) return { name, pass: null, note: 'not counted: it made no check', checks: 0 };
  const skipped = of('SKIPPED').length;
  return {
    name,
    pass: true,
    note: `${passed} checks${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    checks: passed,
  };
}

function sayFaults(passed: number, faults: readonly string[]): string {
  const more = faults.length > TOLD ? [`and ${faults.length - TOLD} more`] : [];
  return [`${passed} checks passed`, ...faults.slice(0, TOLD), ...more].join('; ');
}

function sayCheck({ id, name = id, errorMessage, description }: Check): string {
  const label = name === id ? id : `${id} (${name})`;
  return `${label}: ${(errorMessage ?? description ?? 'no reason given').split('\n')[0]}`;
}

/** Maximum number of failures listed per scenario. */
const TOLD = 4;

/** The last output of the client, which is the message of its error. */
function lastWords(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  return (
    lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.findLast((line) => line !== '') ?? 'no output'
  );
}
