import { isRecord } from '../../../base/json-value.ts';
import type {
  ElicitationRequest,
  ElicitationResult,
  ElicitationValue,
} from '../../../sdk/options/options.ts';
import { line, type Piece } from '../../terminal/render.ts';
import { sanitizeLine } from '../../terminal/terminal-text.ts';
import type { AskEnd, Asking, Questions } from './questions.ts';

/** The answer to an elicitation request; `mute` declines all further requests of the server. */
type ElicitationEnd = ElicitationResult | 'mute';

const COMMANDS = ['decline', 'mute'] as const;

/** Opens an address in the browser of the user; false if there is none. */
type OpenUrl = (url: URL) => boolean;

type AskerEvents = {
  open?: OpenUrl;
  onMuted?(server: string): void;
  /** Hides other output while a request is being asked. */
  pause?(): Disposable;
};

/** Asks elicitation requests one at a time; after `/mute`, all further requests of that server are declined. */
export function elicitationAsker(questions: Questions, { onMuted, pause, open }: AskerEvents) {
  const muted = new Set<string>();
  return async (request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationResult> => {
    const { serverName } = request;
    if (muted.has(serverName)) return { action: 'decline' };
    const answer = await questions.hold(async (asking): Promise<ElicitationResult> => {
      if (muted.has(serverName)) return { action: 'decline' };
      using _pause = pause?.();
      const end = await askElicitation(request, asking, open);
      if (end !== 'mute') return end;
      muted.add(serverName);
      onMuted?.(serverName);
      return { action: 'decline' };
    }, signal);
    return answer ?? { action: 'cancel' };
  };
}

/** Asks an elicitation request: field by field, or for consent to a URL. Ctrl-C cancels, `/decline` declines. */
export async function askElicitation(
  request: ElicitationRequest,
  asking: Asking,
  open: OpenUrl = () => false,
): Promise<ElicitationEnd> {
  asking.print(elicitationQuestion(request));
  if (request.mode === 'url') return askToOpen(request, asking, open);
  const content: Record<string, ElicitationValue> = {};
  const fields = formFields(request.requestedSchema);
  for (const field of fields) {
    const { description } = field.schema;
    if (typeof description === 'string') asking.print([line([`  ${indented(description)}`, 'dim'])]);
    for (;;) {
      const end = await asking.ask(`  ${sanitizeLine(`${field.label} (${field.hint})`)}: `, COMMANDS);
      if (end.kind !== 'text') return withoutAnswer(end);
      const read = parseField(field, end.text);
      // The values of a form are primitives or lists of strings, as MCP defines them.
      if (read.kind === 'value') content[field.name] = read.value as ElicitationValue;
      if (read.kind !== 'fault') break;
      asking.print([line([`  ${sanitizeLine(read.text)}`, 'warn'])]);
    }
  }
  return fields.length > 0 ? { action: 'accept', content } : askConsent(asking, '  agree? (y or n) ');
}

/** The server's name comes first, since the server controls the rest of the text. */
function elicitationQuestion({ serverName, message, mode, url }: ElicitationRequest): Piece[] {
  return [
    {
      kind: 'line',
      spans: [['? ', 'warn'], 'Server ', [serverName, 'strong'], ' requests input: ', indented(message)],
      overflow: 'wrap',
      hang: 2,
    },
    ...(mode === 'url' && url ? addressLines(url) : []),
    line([
      `  Answers are sent to ${serverName}. Ctrl-C cancels the request, /decline declines it, /mute declines all requests of this server.`,
      'dim',
    ]),
    line([
      '  A line that starts with / is a command; to enter an answer that starts with /, type // instead.',
      'dim',
    ]),
  ];
}

/** No line of a server's text starts at the left edge, where the lines of Toolplane start. */
function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

/** The host on a line of its own: the rest of an address can be made to look like another one. */
function addressLines(url: string): Piece[] {
  if (!URL.canParse(url)) return [line(['  The address is invalid: ', 'warn'], JSON.stringify(url))];
  const { protocol, host, username, password } = new URL(url);
  const isSecure = protocol === 'https:' || isLoopback(host);
  return [
    line('  ', [sanitizeLine(url), 'accent']),
    line('  host: ', [host, 'strong'], isSecure ? '' : ' (the connection is not encrypted)'),
    ...(username || password ? [line(['  The address contains a user name: check the host.', 'warn'])] : []),
    ...(host.includes('xn--')
      ? [
          line([
            '  The host name has letters that may look like other letters: check that it is the host you expect.',
            'warn',
          ]),
        ]
      : []),
  ];
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/.test(host);
}

/** Nothing is opened or fetched before the user agrees. */
async function askToOpen(
  { url = '' }: ElicitationRequest,
  asking: Asking,
  open: OpenUrl,
): Promise<ElicitationEnd> {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isWeb) {
    asking.print([line(['  The request is declined: only http and https addresses can be opened.', 'warn'])]);
    return { action: 'decline' };
  }
  const answer = await askConsent(asking, '  open this address in your browser? (y or n) ');
  if (answer !== 'mute' && answer.action === 'accept' && !open(new URL(url)))
    asking.print([line(['  Open the address in a browser.', 'dim'])]);
  return answer;
}

async function askConsent(asking: Asking, question: string): Promise<ElicitationEnd> {
  for (;;) {
    const end = await asking.ask(question, COMMANDS);
    if (end.kind !== 'text') return withoutAnswer(end);
    const text = end.text.trim().toLowerCase();
    if (text === 'y' || text === 'yes') return { action: 'accept' };
    if (text === 'n' || text === 'no') return { action: 'decline' };
  }
}

function withoutAnswer(end: Exclude<AskEnd, { kind: 'text' }>): ElicitationEnd {
  if (end.kind !== 'command') return { action: 'cancel' };
  return end.name === 'mute' ? 'mute' : { action: 'decline' };
}

/** One field of a form: its label, its type and its default. */
export type FormField = {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly isRequired: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
};

/** The parsed input of a field: a value, nothing, or an error. */
type FieldValue =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'left-out' }
  | { readonly kind: 'fault'; readonly text: string };

/** The fields of a form in its own order; MCP forms are flat. */
export function formFields(schema: Readonly<Record<string, unknown>> | undefined): FormField[] {
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  const required: readonly unknown[] = Array.isArray(schema?.required) ? schema.required : [];
  return Object.entries(properties).flatMap(([name, raw]) => {
    if (!isRecord(raw)) return [];
    const label = typeof raw.title === 'string' ? raw.title : name;
    const isRequired = required.includes(name);
    return [{ name, label, hint: hintOf(raw, isRequired), isRequired, schema: raw }];
  });
}

export function parseField({ schema, isRequired }: FormField, typed: string): FieldValue {
  const text = typed.trim();
  if (text === '') {
    if (schema.default !== undefined) return { kind: 'value', value: schema.default };
    return isRequired ? { kind: 'fault', text: 'a value is required' } : { kind: 'left-out' };
  }
  if (schema.type === 'array') return readSeveral(schema, text);
  const choices = choicesOf(schema);
  if (choices.length > 0) return choose(choices, text);
  switch (schema.type) {
    case 'boolean':
      return readBoolean(text);
    case 'number':
    case 'integer':
      return readNumber(schema, text);
    default:
      return readText(schema, typed);
  }
}

type Choice = { readonly value: unknown; readonly title: string };

/** Choices are an `enum` with or without `enumNames`, or a list of `const` with titles. */
function choicesOf(schema: Readonly<Record<string, unknown>>): Choice[] {
  const titled = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(titled)) {
    return titled
      .filter(isRecord)
      .map(({ const: value, title }) => ({ value, title: String(title ?? value) }));
  }
  const names: readonly unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  const values: readonly unknown[] = Array.isArray(schema.enum) ? schema.enum : [];
  return values.map((value, index) => ({ value, title: String(names[index] ?? value) }));
}

function choose(choices: readonly Choice[], text: string): FieldValue {
  const chosen =
    choices.find(
      ({ value, title }) => String(value) === text || title.toLowerCase() === text.toLowerCase(),
    ) ?? (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined);
  if (chosen) return { kind: 'value', value: chosen.value };
  return { kind: 'fault', text: `choose one of ${listed(choices)}` };
}

function readSeveral(schema: Readonly<Record<string, unknown>>, text: string): FieldValue {
  const choices = isRecord(schema.items) ? choicesOf(schema.items) : [];
  const values: unknown[] = [];
  for (const part of text.split(',').map((it) => it.trim())) {
    const read: FieldValue = choices.length > 0 ? choose(choices, part) : { kind: 'value', value: part };
    if (read.kind !== 'value') return read;
    values.push(read.value);
  }
  return { kind: 'value', value: values };
}

function readBoolean(text: string): FieldValue {
  if (/^(y|yes|true)$/i.test(text)) return { kind: 'value', value: true };
  if (/^(n|no|false)$/i.test(text)) return { kind: 'value', value: false };
  return { kind: 'fault', text: 'answer yes or no' };
}

function readNumber({ type, minimum, maximum }: Readonly<Record<string, unknown>>, text: string): FieldValue {
  const value = Number(text);
  const what = type === 'integer' ? 'a whole number' : 'a number';
  const isOne = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isOne) return { kind: 'fault', text: `must be ${what}` };
  if (typeof minimum === 'number' && value < minimum)
    return { kind: 'fault', text: `must be at least ${minimum}` };
  if (typeof maximum === 'number' && value > maximum)
    return { kind: 'fault', text: `must be at most ${maximum}` };
  return { kind: 'value', value };
}

function readText({ minLength, maxLength }: Readonly<Record<string, unknown>>, text: string): FieldValue {
  const { length } = [...text];
  if (typeof minLength === 'number' && length < minLength) {
    return { kind: 'fault', text: `must have at least ${minLength} characters` };
  }
  if (typeof maxLength === 'number' && length > maxLength) {
    return { kind: 'fault', text: `must have at most ${maxLength} characters` };
  }
  return { kind: 'value', value: text };
}

function hintOf(schema: Readonly<Record<string, unknown>>, isRequired: boolean): string {
  const items = schema.type === 'array' && isRecord(schema.items) ? schema.items : schema;
  const choices = choicesOf(items);
  const what =
    choices.length > 0
      ? `${schema.type === 'array' ? 'one or more' : 'one'} of ${listed(choices)}`
      : schema.type === 'boolean'
        ? 'yes or no'
        : String(schema.format ?? schema.type ?? 'text');
  const otherwise =
    schema.default !== undefined
      ? `default: ${String(schema.default)}`
      : isRequired
        ? 'required'
        : 'optional';
  return `${what}; ${otherwise}`;
}

function listed(choices: readonly Choice[]): string {
  return choices.map(({ title }, index) => `${index + 1} ${title}`).join(', ');
}
