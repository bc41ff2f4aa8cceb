import type { UserBlock } from '../../protocol/agent-message.ts';
import { NO_USAGE } from '../loop/add-usage.ts';
import type { Session } from '../session/session.ts';
import { expandCommand } from './prompt-commands.ts';
import { promptNow } from './prompt-now.ts';
import type { TurnEnd } from './worker.ts';

/** What goes to the model; or the end of the turn, if nothing does, and what the result says. */
export type Asked =
  | { readonly blocks: readonly UserBlock[] }
  | { readonly end: TurnEnd; readonly text: string };

/** What the user wants said to the model: a command becomes its prompt, hooks add to it or keep it back. */
export async function readPrompt(
  session: Session,
  given: readonly UserBlock[],
  signal: AbortSignal,
): Promise<Asked> {
  if (given.length === 0) return failed('The message has no content');
  const text = given.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const started = await session.start(signal);
  const submitted = await session.hooks.run('UserPromptSubmit', { prompt: text }, signal);
  // A hook that was cut off has said nothing.
  if (signal.aborted && session.hooks.has('UserPromptSubmit')) return interrupted();
  const refusal = submitted.stop ?? (submitted.decision === 'deny' ? (submitted.reason ?? '') : undefined);
  if (refusal !== undefined) return done(`The prompt was held back by a hook: ${refusal}`);
  const own = await ownCommand(session, text, signal);
  if (own) return own;
  const expanded = text.startsWith('/') ? await expandCommand(text, session.world, signal) : undefined;
  if (expanded && 'fault' in expanded) return signal.aborted ? interrupted() : done(expanded.fault);
  const contexts = [started.additionalContext, submitted.additionalContext].filter((it) => it !== undefined);
  return {
    blocks: [...(expanded?.blocks ?? given), ...contexts.map((it) => ({ type: 'text' as const, text: it }))],
  };
}

/** Commands of the host itself; what each did, in words. */
async function ownCommand(session: Session, text: string, signal: AbortSignal): Promise<Asked | undefined> {
  const [, name, rest = ''] = /^\/(clear|compact)(?:\s+(.*))?$/s.exec(text.trim()) ?? [];
  const { conversation } = session;
  if (name === 'clear') {
    conversation.clear();
    return done('The conversation was cleared.');
  }
  if (name !== 'compact') return undefined;
  try {
    const isShorter = await conversation.compact('manual', promptNow(session), signal, rest || undefined);
    return done(isShorter ? 'The conversation was made shorter.' : 'There was nothing to make shorter.');
  } catch (cause) {
    if (signal.aborted) return interrupted();
    throw cause;
  }
}

function done(text: string): Asked {
  return { end: { end: { reason: 'done', turns: 0, usage: NO_USAGE }, denials: [] }, text };
}

function interrupted(): Asked {
  return { end: { end: { reason: 'interrupted', turns: 0, usage: NO_USAGE }, denials: [] }, text: '' };
}

function failed(fault: string): Asked {
  return { end: { end: { reason: 'failed', fault, turns: 0, usage: NO_USAGE }, denials: [] }, text: '' };
}
