import { readFileSync } from 'node:fs';
import { knownOutput } from '../example-run.ts';
import { ROOT } from '../step.ts';
import { GENERATED } from './tables.ts';

/** `<!-- kind: what -->` … `<!-- /kind -->`: the content between the marks is generated. */
const BLOCK = /<!-- (snippet|output|generated): (\S+) -->\n.*?<!-- \/\1 -->/gs;

type Kind = 'snippet' | 'output' | 'generated';

/** Renders every block of the page. */
export async function renderPage(page: string): Promise<string> {
  const blocks = [...page.matchAll(BLOCK)];
  const bodies = await Promise.all(blocks.map(([, kind, what]) => MAKE[kind as Kind](String(what))));
  let next = 0;
  return page.replace(BLOCK, (_, kind, what) => {
    return `<!-- ${kind}: ${what} -->\n${bodies[next++]}\n<!-- /${kind} -->`;
  });
}

const MAKE: Record<Kind, (what: string) => string | Promise<string>> = {
  /** `examples/x.ts#region`: the parts of the file between the marks of that region. */
  snippet(what) {
    const [file, name] = what.split('#') as [string, string | undefined];
    if (!name) throw new Error(`snippet ${what} names no region`);
    return fence('ts', withOwnAgent(region(readFileSync(`${ROOT}${file}`, 'utf8'), name, file)));
  },
  /** `examples/x.ts`: its recorded output; `examples/x.ts#part`: the lines after the line `# part`. */
  output(what) {
    const [file = '', part] = what.split('#');
    const printed = knownOutput(file.replace(/^examples\/|\.ts$/g, ''));
    if (printed === undefined)
      throw new Error(`${what} has no known output; run: npm run examples -- --update`);
    return fence('text', part === undefined ? printed.trimEnd() : outputPart(printed, part, file));
  },
  generated(what) {
    const make = GENERATED[what];
    if (!make)
      throw new Error(`unknown generated block ${what} (known: ${Object.keys(GENERATED).join(', ')})`);
    return make();
  },
};

/** The lines after `# <part>` up to the next such line; spaces of the title are dashes in `part`. */
function outputPart(printed: string, part: string, file: string): string {
  for (const section of printed.split(/^# /m)) {
    const [title = '', ...lines] = section.split('\n');
    if (title.replaceAll(' ', '-') === part) return lines.join('\n').trim();
  }
  throw new Error(`the output of ${file} has no part "# ${part}"`);
}

/** Replaces the test agent of the examples by the option a reader would write. */
function withOwnAgent(code: string): string {
  return code.replaceAll(/\.\.\.agent\.options,( \/\/ \{.*\}$)?/gm, "pathToClaudeCodeExecutable: 'claude',");
}

/** Joins the parts of a region with empty lines, without the marks of nested regions. */
export function region(source: string, name: string, file: string): string {
  const parts: string[] = [];
  const open: { name: string; lines: string[] }[] = [];
  for (const line of source.split('\n')) {
    const start = /^\s*\/\/ #region (\S+)$/.exec(line);
    if (start) open.push({ name: String(start[1]), lines: [] });
    else if (/^\s*\/\/ #endregion$/.test(line)) {
      const closed = open.pop();
      if (!closed) throw new Error(`${file}: an #endregion without its #region`);
      if (closed.name === name) parts.push(outdent(closed.lines));
    } else for (const { lines } of open) lines.push(line);
  }
  if (open.length > 0) throw new Error(`${file}: region ${open[0]?.name} is not closed`);
  if (parts.length === 0) throw new Error(`${file} has no region ${name}`);
  return parts.join('\n\n');
}

function outdent(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const least = Math.min(...indents);
  return lines
    .map((line) => line.slice(least))
    .join('\n')
    .trim();
}

function fence(language: string, body: string): string {
  return `\`\`\`${language}\n${body}\n\`\`\``;
}
