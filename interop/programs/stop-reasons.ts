import type { MessagesRequest } from '../../test/support/model-api/messages-request.ts';
import { stoppedBy, text } from '../../test/support/model-api/model-reply.ts';
import { transcribe } from '../observe.ts';
import { options, type Sandbox, type Sdk } from '../program.ts';

const REASONS = [
  'end_turn',
  'max_tokens',
  'model_context_window_exceeded',
  'refusal',
  'pause_turn',
  'stop_sequence',
];
const EMPTY = { kind: 'message' as const, blocks: [] };

/** Each first reply of a conversation has another stop reason; then one without content. */
export const script = (_: MessagesRequest, n: number) => {
  const reasons = REASONS.flatMap((reason) => (isContinued(reason) ? [reason, 'end_turn'] : [reason]));
  const reason = reasons[n - 1];
  if (reason !== undefined) return stoppedBy(text(`reply ${n}`), reason);
  return n - reasons.length === 2 ? text('not empty') : EMPTY;
};

function isContinued(reason: string): boolean {
  return ['max_tokens', 'model_context_window_exceeded', 'refusal'].includes(reason);
}

/** After some stop reasons, and after a reply without content, the agent asks the model to continue. */
export async function run(sdk: Sdk, sandbox: Sandbox): Promise<unknown> {
  const ask = (prompt: string) => transcribe(sdk.query({ prompt, options: options(sandbox) }));
  const seen: Record<string, unknown> = {};
  for (const reason of REASONS) seen[reason] = await ask('Say something.');
  const [empty, twice] = [await ask('Say nothing.'), await ask('Say nothing, twice.')];
  return { seen, empty, twice };
}
