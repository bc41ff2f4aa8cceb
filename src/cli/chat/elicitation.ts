import type { ElicitationRequest, ElicitationResult } from '../../sdk/callbacks.ts';
import { formFields, readField } from './form-field.ts';
import { line, type Piece } from './piece.ts';
import type { Asking } from './questions.ts';

const DECLINE = '/decline';

/** A server's question: its fields one by one, or its address to go to. Ctrl-C cancels, `/decline` says no. */
export async function askElicitation(
  request: ElicitationRequest,
  asking: Asking,
): Promise<ElicitationResult> {
  asking.print(elicitationQuestion(request));
  if (request.mode === 'url') return askAboutAddress(asking);
  const content: Record<string, unknown> = {};
  const fields = formFields(request.requestedSchema);
  for (const field of fields) {
    const { description } = field.schema;
    if (typeof description === 'string') asking.print([line([`  ${description}`, 'dim'])]);
    for (;;) {
      const end = await asking.ask(`  ${field.label} (${field.hint}): `);
      if (end.kind !== 'text') return { action: 'cancel' };
      if (end.text.trim() === DECLINE) return { action: 'decline' };
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
    line([`  What you answer goes to ${serverName}. ${DECLINE} refuses, Ctrl-C cancels.`, 'dim']),
  ];
}

async function askAboutAddress(asking: Asking): Promise<ElicitationResult> {
  for (;;) {
    const end = await asking.ask('  agree? (y or n) ');
    if (end.kind !== 'text') return { action: 'cancel' };
    const text = end.text.trim().toLowerCase();
    if (text === 'y' || text === 'yes') return { action: 'accept' };
    if (text === 'n' || text === 'no' || text === DECLINE) return { action: 'decline' };
  }
}
