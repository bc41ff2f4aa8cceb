import type { ElicitationRequest, ElicitationResult } from '../../sdk/options/options.ts';
import { formFields, readField } from './form-field.ts';
import { line, type Piece } from './piece.ts';
import type { AskEnd, Asking } from './questions.ts';

/** An answer to a server's question; `mute`: no further question of that server is wanted. */
export type ElicitationEnd = ElicitationResult | 'mute';

const COMMANDS = ['decline', 'mute'] as const;

/** A server's question: its fields one by one, or its address to go to. Ctrl-C cancels, `/decline` says no. */
export async function askElicitation(request: ElicitationRequest, asking: Asking): Promise<ElicitationEnd> {
  asking.print(elicitationQuestion(request));
  if (request.mode === 'url') return askAboutAddress(asking);
  const content: Record<string, unknown> = {};
  const fields = formFields(request.requestedSchema);
  for (const field of fields) {
    const { description } = field.schema;
    if (typeof description === 'string') asking.print([line([`  ${description}`, 'dim'])]);
    for (;;) {
      const end = await asking.ask(`  ${field.label} (${field.hint}): `, COMMANDS);
      if (end.kind !== 'text') return withoutAnswer(end);
      const read = readField(field, end.text);
      if (read.kind === 'value') content[field.name] = read.value;
      if (read.kind !== 'fault') break;
      asking.print([line([`  ${read.text}`, 'warn'])]);
    }
  }
  return fields.length > 0 ? { action: 'accept', content } : askAboutAddress(asking);
}

/** Who asks stands first: a server may write what it likes into the rest. */
export function elicitationQuestion({ serverName, message, mode, url }: ElicitationRequest): Piece[] {
  return [
    line(['? ', 'warn'], 'Server ', [serverName, 'strong'], ' asks: ', message),
    ...(mode === 'url' && url ? [line('  ', [url, 'accent'])] : []),
    line([
      `  Answers go to ${serverName}. Ctrl-C cancels, /decline refuses, /mute refuses all its questions in this session.`,
      'dim',
    ]),
    line(['  A line that begins with / is a command; begin an answer with // for a slash.', 'dim']),
  ];
}

async function askAboutAddress(asking: Asking): Promise<ElicitationEnd> {
  for (;;) {
    const end = await asking.ask('  agree? (y or n) ', COMMANDS);
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
