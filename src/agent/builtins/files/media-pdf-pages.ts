import { nameOf, type PdfObject, PdfObjects } from './media-pdf-objects.ts';
import { type PdfEntries, type PdfEntry, PdfError, referencesIn } from './media-pdf-syntax.ts';

/** The pages of a PDF file, or why it cannot be read. */
export type PdfDocument =
  | { readonly kind: 'pages'; readonly pages: PdfPages }
  | { readonly kind: 'encrypted' }
  | { readonly kind: 'damaged'; readonly why: string };

/** Reads the structure of a PDF file. If its tables are damaged, the file is searched for its objects. */
export function openPdf(bytes: Buffer): PdfDocument {
  const text = bytes.toString('latin1', bytes.indexOf('%PDF-'));
  let why = '';
  for (const isRepairing of [false, true]) {
    try {
      const objects = new PdfObjects(text, { isRepairing });
      const encryption = objects.trailer.get('Encrypt');
      if (encryption && objects.resolve(encryption)?.kind === 'dictionary') return { kind: 'encrypted' };
      return { kind: 'pages', pages: new PdfPages(objects) };
    } catch (thrown) {
      if (!(thrown instanceof PdfError)) throw thrown;
      why ||= thrown.message;
    }
  }
  return { kind: 'damaged', why };
}

type Page = { readonly id: number; readonly entries: PdfEntries };

/** The pages of a file in order; can write some of them to a new file. */
export class PdfPages {
  readonly #objects: PdfObjects;
  readonly #catalog: PdfEntries;
  readonly #pages: Page[] = [];
  /** The ids of all pages and of the nodes above them. */
  readonly #nodes = new Set<number>();

  constructor(objects: PdfObjects) {
    this.#objects = objects;
    const catalog = objects.entries(objects.trailer.get('Root'));
    if (!catalog) throw new PdfError('its catalog is missing');
    this.#catalog = catalog;
    this.#walk();
    if (this.#pages.length === 0) throw new PdfError('it has no pages');
  }

  get count(): number {
    return this.#pages.length;
  }

  /**
   * A file with the pages from `first` to `last`, counted from 1, and the objects that they use. Objects keep their numbers
   * and their text. Bookmarks, forms and links to other pages are left out.
   */
  extract(first: number, last: number, maxBytes: number): Buffer | 'too-large' {
    const pages = this.#pages.slice(first - 1, last);
    const tree = this.#objects.maxId + 1;
    const catalog = tree + 1;
    const file = new PdfFile(maxBytes);
    const layers = this.#catalog.get('OCProperties');
    const used: Iterable<number>[] = layers ? [referencesIn(layers.value)] : [];
    const kids = pages.map(({ id }) => `${id} 0 R`);
    file.add(tree, 0, `<< /Type /Pages /Count ${pages.length} /Kids [ ${kids.join(' ')} ] >>`);
    file.add(
      catalog,
      0,
      `<< /Type /Catalog /Pages ${tree} 0 R ${layers ? `/OCProperties ${layers.raw} ` : ''}>>`,
    );
    for (const { id, entries } of pages) {
      const own = new Map([...entries].filter(([name]) => !LEFT_OUT.has(name)));
      used.push(...[...own.values()].map(({ value }) => referencesIn(value)));
      file.add(id, 0, dictionary(own, { Type: '/Page', Parent: `${tree} 0 R` }));
    }
    this.#copy(used, file);
    return file.end(catalog);
  }

  /** Copies objects and what they refer to, except pages: a link to a page that is not copied refers to nothing. */
  #copy(used: Iterable<number>[], file: PdfFile): void {
    for (let ids = used.pop(); ids !== undefined && !file.isTooLarge; ids = used.pop()) {
      for (const id of ids) {
        if (file.has(id) || this.#nodes.has(id)) continue;
        const object = this.#objects.object(id);
        if (!object) continue;
        file.add(id, object.generation, this.#body(object));
        used.push(referencesIn(object.value));
      }
    }
  }

  #body(object: PdfObject): string {
    const data = this.#objects.streamData(object);
    if (data === undefined || object.value.kind !== 'dictionary') return object.raw;
    // The declared length may be wrong or an object of its own.
    const head = dictionary(object.value.entries, { Length: String(data.length) });
    return `${head}\nstream\n${data}\nendstream`;
  }

  /** Collects the pages below the root of the page tree, in order, with the attributes that they inherit. */
  #walk(): void {
    const root = this.#catalog.get('Pages')?.value;
    if (root?.kind !== 'reference') throw new PdfError('its page tree is missing');
    const waiting: { id: number; inherited: PdfEntries }[] = [{ id: root.id, inherited: new Map() }];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { id, inherited } = next;
      if (this.#nodes.has(id)) throw new PdfError('its page tree contains a page twice');
      if (this.#nodes.size >= MAX_NODES) throw new PdfError('it has too many pages');
      this.#nodes.add(id);
      const entries = this.#objects.entries({ kind: 'reference', id });
      if (!entries) throw new PdfError('a page is missing in it');
      const passed = new Map([...inherited, ...INHERITED.flatMap((name) => entry(entries, name))]);
      const kids = this.#objects.resolve(entries.get('Kids')?.value);
      if (kids?.kind !== 'array') {
        const isEmpty = nameOf(entries.get('Type')?.value) === 'Pages';
        if (!isEmpty) this.#pages.push({ id, entries: new Map([...entries, ...passed]) });
        continue;
      }
      for (const kid of kids.items.toReversed()) {
        if (kid.kind === 'reference') waiting.push({ id: kid.id, inherited: passed });
      }
    }
  }
}

const MAX_NODES = 100_000;
const INHERITED = ['Resources', 'MediaBox', 'CropBox', 'Rotate'];
/** Members of a page that refer to other pages, or that are written anew. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'Type',
  'Parent',
  'B',
  'StructParents',
  'PieceInfo',
  'Metadata',
  'Thumb',
]);

/** Collects the objects of a new file, up to a size. */
class PdfFile {
  readonly #parts: string[] = ['%PDF-1.7\n%\xe2\xe3\xcf\xd3\n'];
  readonly #offsets = new Map<number, { readonly offset: number; readonly generation: number }>();
  readonly #maxBytes: number;
  #length = 15;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isTooLarge(): boolean {
    return this.#length > this.#maxBytes;
  }

  has(id: number): boolean {
    return this.#offsets.has(id);
  }

  add(id: number, generation: number, body: string): void {
    this.#offsets.set(id, { offset: this.#length, generation });
    this.#push(`${id} ${generation} obj\n${body}\nendobj\n`);
  }

  /** The file with its cross-reference table. */
  end(catalog: number): Buffer | 'too-large' {
    const start = this.#length;
    this.#push('xref\n0 1\n0000000000 65535 f \n');
    for (const [id, { offset, generation }] of [...this.#offsets].toSorted(([a], [b]) => a - b)) {
      const row = `${String(offset).padStart(10, '0')} ${String(generation).padStart(5, '0')} n \n`;
      this.#push(`${id} 1\n${row}`);
    }
    this.#push(`trailer\n<< /Size ${catalog + 1} /Root ${catalog} 0 R >>\nstartxref\n${start}\n%%EOF\n`);
    return this.isTooLarge ? 'too-large' : Buffer.from(this.#parts.join(''), 'latin1');
  }

  #push(text: string): void {
    this.#length += text.length;
    if (!this.isTooLarge) this.#parts.push(text);
  }
}

/** The text of a dictionary with some members replaced. */
function dictionary(entries: PdfEntries, replaced: Readonly<Record<string, string>>): string {
  const kept = [...entries]
    .filter(([name]) => !Object.hasOwn(replaced, name))
    .map(([name, { raw }]) => [name, raw]);
  const members = [...Object.entries(replaced), ...kept].map(
    ([name, raw]) => `${nameText(String(name))} ${raw}`,
  );
  return `<< ${members.join(' ')} >>`;
}

/** A name as it is written, with special characters escaped. */
function nameText(name: string): string {
  const escaped = name.replaceAll(
    /[^!"$&'*+,.:;=?@\w\\^`|~-]/g,
    (it) => `#${it.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `/${escaped}`;
}

function entry(entries: PdfEntries, name: string): [string, PdfEntry][] {
  const found = entries.get(name);
  return found ? [[name, found]] : [];
}
