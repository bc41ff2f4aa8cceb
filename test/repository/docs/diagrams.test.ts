import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../../../scripts/step.ts';
import { SCOPES } from '../../../src/config/model.ts';
import {
  initialState,
  next,
  type ServerEvent,
  type ServerState,
} from '../../../src/mcp/servers/server-state.ts';
import { decide, type Situation } from '../../../src/permissions/decide.ts';
import { mcpCall, rule, situation } from '../../permissions/situation.ts';

const PAGE = readFileSync(join(ROOT, 'docs/how-it-works.md'), 'utf8');
const diagrams = [...PAGE.matchAll(/^```mermaid\n(.*?)^```$/gms)].map(([, text]) => String(text));
const diagram = (kind: string) => diagrams.filter((text) => text.startsWith(kind));

describe('docs/how-it-works.md', () => {
  test('shows the state machine of a connection', () => {
    const drawn = [...String(diagram('stateDiagram-v2')[0]).matchAll(/^ +(\w+) --> (\w+): /gm)].map(
      ([, from, to]) => `${from} → ${to}`.replaceAll('needs_auth', 'needs-auth'),
    );
    const real = explore();
    expect(drawn.filter((arrow) => !real.has(arrow))).toEqual([]);
    // Every state can be disabled and reconnected; the diagram shows the usual ones.
    const missing = [...real].filter(
      (arrow) => !drawn.includes(arrow) && !/→ (?:disabled|pending)$/.test(arrow),
    );
    expect(missing).toEqual([]);
  });

  test('shows the scopes from lowest to highest precedence', () => {
    const chain = /^ +((?:\w+ --> )+\w+)$/m.exec(String(diagram('flowchart LR')[0]))?.[1]?.split(' --> ');
    expect(chain).toEqual(SCOPES.filter((scope) => scope !== 'managed'));
  });

  test('asks in the order of the permission diagram', () => {
    const questions = [...String(diagram('flowchart TD')[1]).matchAll(/\{"(.+?)"\}/g)].map(
      ([, text]) => text,
    );
    expect(questions).toEqual([
      'PreToolUse hook',
      'deny rule matches?',
      'ask rule matches, or a deny or ask rule cannot be checked?',
      'tool definition changed since it was accepted?',
      'tool requires user interaction?',
      'allow rule matches?',
      'permission mode',
    ]);
    // Each step decides although every later step would decide otherwise.
    const steps: Partial<Situation>[] = [
      { rules: [rule('mcp__s', 'deny')] },
      { rules: [rule('mcp__s', 'ask')] },
      { changed: { text: 'changed' } },
      { needsPerson: true },
      { rules: [rule('mcp__s', 'allow')] },
      { mode: 'plan' },
    ];
    const kinds = steps.map((_, first) => {
      const given = steps.slice(first);
      const rules = given.flatMap((step) => step.rules ?? []);
      return decide(situation(mcpCall('s', 't'), { ...Object.assign({}, ...given), rules })).kind;
    });
    expect(kinds).toEqual(['deny', 'ask', 'ask', 'ask', 'allow', 'deny']);
  });
});

/** Every change of state that events cause, as `from → to`. */
function explore(): Set<string> {
  const failure = { code: 'unreachable', message: 'x', detail: 'x', retry: 'later' } as const;
  const locked = { ...failure, code: 'unauthorized' } as const;
  const handshake = { era: 'legacy', protocolVersion: '2025-11-25', tools: 1 } as const;
  const events: ServerEvent[] = [
    { kind: 'requested' },
    { kind: 'reconnect-requested' },
    { kind: 'connect-started' },
    { kind: 'connect-succeeded', handshake },
    { kind: 'connect-failed', failure, stderr: [] },
    { kind: 'connect-failed', failure: locked, stderr: [] },
    { kind: 'connection-lost', failure, stderr: [] },
    { kind: 'connection-lost', failure: locked, stderr: [] },
    { kind: 'retry-due' },
    { kind: 'retry-requested' },
    { kind: 'disabled' },
    { kind: 'enabled' },
  ];
  const retry = { firstMs: 1, ceilingMs: 10, attempts: 100, startAttempts: 100 };
  const found = new Set<string>();
  let states: ServerState[] = [initialState(0)];
  for (let depth = 0; depth < 5; depth++) {
    states = states.flatMap((state) =>
      events.map((event) => {
        const became = next(state, event, { now: depth * 1000, random: 0.5, retry });
        if (became.kind !== state.kind) found.add(`${state.kind} → ${became.kind}`);
        return became;
      }),
    );
    states = [...new Map(states.map((state) => [JSON.stringify(state), state])).values()];
  }
  return found;
}
