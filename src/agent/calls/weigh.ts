import type { HookEffect } from '../../hooks/hook-effect.ts';
import type { Decision } from '../../permissions/decide.ts';
import type { PermissionMode } from '../../protocol/permission.ts';

/**
 * The decision once a hook has spoken. A hook may always be stricter. It may spare a person's question, but not one that
 * a rule or the tool itself demands, nor one about a tool that is not what was accepted, and it never opens what is denied. Mode `dontAsk` asks nobody, whoever wants it to.
 */
export function weigh(
  decision: Decision,
  { decision: hook, reason }: HookEffect,
  mode: PermissionMode,
): Decision {
  if (hook === 'deny') return byHook('deny', reason ?? 'a PreToolUse hook denied it');
  if (hook === 'ask' && decision.kind === 'allow') {
    const text = reason ?? 'a PreToolUse hook asks';
    if (mode !== 'dontAsk') return byHook('ask', text);
    return { kind: 'deny', reason: { mode, text: `mode dontAsk denies what would be asked: ${text}` } };
  }
  const { rule, annotation, changed } = decision.reason;
  const isDemanded = rule !== undefined || changed !== undefined || annotation === 'requiresUserInteraction';
  if (hook === 'allow' && decision.kind === 'ask' && !isDemanded) {
    return byHook('allow', reason ?? 'a PreToolUse hook allowed it');
  }
  return decision;
}

function byHook(kind: Decision['kind'], text: string): Decision {
  return { kind, reason: { text } };
}
