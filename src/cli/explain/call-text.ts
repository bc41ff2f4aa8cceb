import {
  type HookRow,
  type PermissionExplanation,
  type RuleRow,
  standText,
  type TimeoutExplanation,
  type ToolExplanation,
} from '../../config/explain/explanation.ts';

import { line, type Piece, type Tone } from '../chat/piece.ts';
import { counted } from '../host/figures.ts';
import { limitSection, NOT_APPROVED } from './limit-text.ts';
import { answerLine, facts, nextLines, SIGNS, section } from './section.ts';
import { connectionText } from './server-text.ts';

/** Whether one call may run, and what says so. */
export function permissionText(it: PermissionExplanation): Piece[] {
  return apart([
    [answerLine(DECISIONS[it.decision], it.answer)],
    hookSection(it.hooks),
    ruleSection(it.rules),
    facts([
      ...(it.input === undefined ? [] : [['arguments', JSON.stringify(it.input)] as const]),
      ...(it.path === undefined ? [] : [['path', `it leads to ${it.path}`] as const]),
      ['mode', `${it.mode.mode} (${it.mode.says})`],
    ]),
    nextLines(it.next),
  ]);
}

export function timeoutText(it: TimeoutExplanation): Piece[] {
  return apart([
    [answerLine(SIGNS[it.standing], it.answer)],
    limitSection(it.limits, 'whole'),
    nextLines(it.next),
  ]);
}

/** One tool: where it comes from, what it costs, whether it may run. */
export function toolText(it: ToolExplanation): Piece[] {
  if (it.standing === 'unknown' && it.server === undefined) {
    return apart([[answerLine(SIGNS.unknown, it.answer)], nextLines(it.next)]);
  }
  const rows: (readonly [string, string])[] = [
    ...(it.server === undefined ? [] : [['server', it.server] as const]),
    ...(it.naming === undefined ? [] : [['name', it.naming] as const]),
    ['offered', `${it.offered.is ? 'yes' : 'no'}: ${it.offered.says}`],
    ...(it.deferred
      ? [['told', `${it.deferred.is ? 'by search' : 'at once'}: ${it.deferred.says}`] as const]
      : []),
    ...(it.tokens === undefined
      ? []
      : [['price', `about ${counted(it.tokens)} tokens in every request`] as const]),
    ...(it.changed === undefined ? [] : [['changed', it.changed] as const]),
    ...(it.server === undefined ? [] : [['connection', connectionText(it.connection)] as const]),
    ...(it.permission ? [['permission', `${it.permission.decision}: ${it.permission.reason}`] as const] : []),
  ];
  return apart([
    [answerLine(SIGNS[it.standing], it.answer)],
    facts(rows),
    it.permission ? hookSection(it.permission.hooks) : [],
    it.permission ? ruleSection(it.permission.rules) : [],
    limitSection(it.timeouts, 'brief'),
    nextLines(it.next),
  ]);
}

const DECISIONS: Readonly<Record<PermissionExplanation['decision'], readonly [string, Tone]>> = {
  allow: SIGNS.usable,
  ask: SIGNS.waiting,
  deny: SIGNS.unusable,
};

function hookSection(hooks: readonly HookRow[]): Piece[] {
  return section(
    'hooks that are asked first',
    hooks.map(({ command, matcher, at }) => [
      matcher ? `PreToolUse ${matcher}` : 'PreToolUse',
      command,
      `${standText(at)} (${at.scope})`,
    ]),
  );
}

function ruleSection(rules: readonly RuleRow[]): Piece[] {
  return section(
    'rules about it',
    rules.map(({ effect, rule, of, at, part }) => [
      part === 'decides' ? '→' : ' ',
      effect,
      rule,
      at ? `${standText(at)} (${at.scope})` : of,
      PARTS[part],
    ]),
    rules.length === 0 ? ['none'] : [],
  );
}

const PARTS: Readonly<Record<RuleRow['part'], string>> = {
  decides: 'decides',
  beaten: 'beaten: deny beats ask, ask beats allow',
  'other arguments': 'is about other arguments',
  'not approved': NOT_APPROVED,
};

function apart(parts: readonly (readonly Piece[])[]): Piece[] {
  return parts
    .filter((part) => part.length > 0)
    .flatMap((part, at) => (at === 0 ? part : [line(''), ...part]));
}
