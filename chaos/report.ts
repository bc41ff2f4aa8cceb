import type { Row, Verdict } from './verdict.ts';

const COLUMNS = ['ours', 'sdk', 'aiSdk'] as const;
const HEADINGS = { ours: 'ours', sdk: '@modelcontextprotocol/client', aiSdk: '@ai-sdk/mcp' } as const;

/** The report as text: one line per fault, with the note of a client that failed, else ours. */
export function formatReport(rows: readonly Row[]): string {
  const columns = COLUMNS.filter((column) => rows.some((row) => verdictOf(row, column)));
  const width = Math.max(...rows.map(({ name }) => name.length), 0);
  const lines = rows.map((row) => {
    const marks = columns.map((column) => mark(verdictOf(row, column))).join(' ');
    return `${row.name.padEnd(width)}  ${marks}  ${noteOf(row)}`.trimEnd();
  });
  const totals = columns.map((column) => {
    const passed = rows.filter((row) => verdictOf(row, column)?.pass).length;
    return `${HEADINGS[column]}: ${passed} of ${rows.length}`;
  });
  return `${[...lines, '', ...totals].join('\n')}\n`;
}

function verdictOf(row: Row, column: (typeof COLUMNS)[number]): Verdict | undefined {
  return column === 'ours' ? row : row[column];
}

function mark(verdict: Verdict | undefined): string {
  return verdict === undefined ? ' ' : verdict.pass ? '✓' : '✗';
}

function noteOf(row: Row): string {
  if (!row.pass || (row.sdk?.pass !== false && row.aiSdk?.pass !== false)) return cut(row.note);
  const others = [row.sdk, row.aiSdk].flatMap((verdict, i) =>
    verdict && !verdict.pass ? [`${HEADINGS[i === 0 ? 'sdk' : 'aiSdk']}: ${verdict.note}`] : [],
  );
  return cut(others.join('; '));
}

function cut(note: string): string {
  return note.length > 200 ? `${note.slice(0, 199)}…` : note;
}
