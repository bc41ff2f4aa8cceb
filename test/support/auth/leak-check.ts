import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect } from 'vitest';
import { PLANTED } from './hostile-server.ts';

const INSPECTED = {
  depth: Number.POSITIVE_INFINITY,
  showHidden: true,
  maxArrayLength: null,
  maxStringLength: null,
};
const PRINTED = ['log', 'info', 'warn', 'error', 'debug'] as const;

/** Collects all texts that a user, a log or another process could see during the tests of a file. */
export function watchForLeaks() {
  const seen: { readonly where: string; readonly text: string }[] = [];
  /** The values to look for; tests add those of single sign-ins, such as `state`. */
  const planted = new Set<string>(Object.values(PLANTED));
  /** A directory whose files are searched too. */
  const home = mkdtempSync(join(tmpdir(), 'toolplane-hostile-'));
  const see = (where: string, value: unknown) =>
    void seen.push({ where, text: typeof value === 'string' ? value : inspect(value, INSPECTED) });

  const { console: before } = globalThis;
  const printers = Object.fromEntries(PRINTED.map((name) => [name, before[name]]));
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, write: stream.write }));
  beforeAll(() => {
    for (const name of PRINTED) console[name] = (...args: unknown[]) => see(`console.${name}`, args);
    for (const { stream } of streams)
      stream.write = ((chunk: unknown) => {
        see(stream === process.stdout ? 'stdout' : 'stderr', String(chunk));
        return true;
      }) as typeof stream.write;
  });
  afterAll(() => {
    Object.assign(console, printers);
    for (const { stream, write } of streams) stream.write = write;
    rmSync(home, { recursive: true, force: true });
  });

  /** Fails if a planted value was seen or is in a file, as it is or encoded. Returns the names of the files. */
  const expectNoLeaks = (): readonly string[] => {
    const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
    for (const file of files)
      see(`file ${file.name}`, readFileSync(join(file.parentPath, file.name), 'utf8'));
    const forms = [...planted].filter((it) => it !== '').flatMap(encodingsOf);
    const leaks = seen.flatMap(({ where, text }) =>
      forms
        .filter((form) => text.includes(form))
        .map((form) => `${where}: ${form} in ${text.slice(Math.max(0, text.indexOf(form) - 300), 400)}`),
    );
    expect(leaks).toEqual([]);
    expect(seen.length).toBeGreaterThan(20);
    return files.map(({ name }) => name);
  };
  return { see, planted, home, expectNoLeaks };
}

/** The forms in which a planted value may appear in a text: as it is, encoded, or inside a longer base64 text. */
function encodingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const aligned = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The characters at both ends also depend on the neighbors of the value.
    return encoded.slice(Math.ceil((offset * 4) / 3), -2);
  });
  return [
    value,
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...aligned,
    ...aligned.map((it) => it.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}
