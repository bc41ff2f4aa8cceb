/** Headers as the official transports read them. */
type ReadHeaders = { get(name: string): string | null; has(name: string): boolean };

/** As much of a fetch `Response` as the official transports use, without the cost of one. */
export class HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly headers: ReadHeaders;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly redirected = false;
  readonly type = 'basic';
  readonly #text: string;
  readonly #json: (() => unknown) | undefined;

  /** `content` is all of the text, or a stream of it. */
  constructor(
    head: { status: number; statusText: string; url: string; headers: ReadHeaders },
    content: string | ReadableStream<Uint8Array>,
    json?: () => unknown,
  ) {
    this.status = head.status;
    this.statusText = head.statusText;
    this.url = head.url;
    this.headers = head.headers;
    this.body = typeof content === 'string' ? null : content;
    this.#text = typeof content === 'string' ? content : '';
    this.#json = json;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** Of a stream there is none: whoever does not read it lets go of it. */
  async text(): Promise<string> {
    await this.body?.cancel();
    return this.#text;
  }

  async json(): Promise<unknown> {
    return this.#json === undefined ? JSON.parse(this.#text) : this.#json();
  }
}

/** A view of the headers undici gives: lower-case names, lists for those that came more than once. */
export function readHeaders(raw: Readonly<Record<string, string | string[] | undefined>>): ReadHeaders {
  const get = (name: string) => {
    const value = raw[name.toLowerCase()];
    return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value;
  };
  return { get, has: (name) => raw[name.toLowerCase()] !== undefined };
}
