import { isCredentialName } from '../../base/is-credential-name.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { Configuration } from '../configuration.ts';
import { placeText } from '../fault-text.ts';
import { isInProgram } from '../merge/in-program.ts';
import type { ConfiguredServer, LostServer } from '../model.ts';
import { connectionStep } from './connection-step.ts';
import type { ConnectionRow, UseRow } from './explanation.ts';
import { standOf, standText } from './stand.ts';

/** What the next step depends on. */
export type Situation = {
  readonly configuration: Pick<Configuration, 'world'>;
  readonly server: ConfiguredServer;
  readonly missing: readonly UseRow[];
  readonly connection: ConnectionRow | 'not asked';
  /** Where settings turn it off. */
  readonly disabledAt?: string;
};

/** What to do about a server: commands and edits as they are typed, the most likely first. */
export function nextSteps(situation: Situation): string[] {
  const { server, missing, disabledAt } = situation;
  const { name, written, verdict, lost } = server;
  const word = shellWord(name);
  const place = standText(standOf(written));
  switch (verdict.kind) {
    case 'pending':
      return [
        `read it at ${place}; if you want it: toolplane mcp approve ${word}`,
        `if you do not: toolplane mcp reject ${word}`,
      ];
    case 'rejected':
      return [`if you changed your mind: toolplane mcp approve ${word}`];
    case 'blocked':
      return [`ask those who run this machine to change ${verdict.rule}, or use another server`];
    case 'disabled':
      if (written.off !== undefined) return [`remove "${written.off}" of the entry at ${place}`];
      return [`remove "disabled" of serverSettings.${name} in ${disabledAt ?? verdict.label}`];
    case 'broken':
      return [`mend it at ${placeText(verdict.fault.label, verdict.fault.position)}`];
    case 'ready':
      return [
        ...missing.flatMap((use) => fillIn(use, place)),
        ...unlessMissing(situation),
        ...uncovering(server),
        ...waiting(lost, word),
      ];
  }
}

function unlessMissing({ configuration, missing, server, connection }: Situation): string[] {
  if (missing.length > 0) return [];
  if (connection === 'not asked')
    return [`to see whether it answers: toolplane mcp doctor ${shellWord(server.name)}`];
  return connection.state === 'connected' ? [] : [connectionStep(server, connection, configuration)];
}

/** What to do about a name that only entries have which do not count. */
export function stepsForLost(lost: readonly LostServer[], managed = 'managed-mcp.json'): string[] {
  return [...new Set(lost.flatMap((it) => stepForLoss(it, managed)))];
}

function stepForLoss({ written, why, winner }: LostServer, managed: string): string[] {
  const place = standText(standOf(written));
  switch (why) {
    case 'pending':
    case 'rejected':
      return waiting([{ written, why }], shellWord(written.name));
    case 'duplicate':
      return winner ? [`use "${winner.name}", which leads to the same server`] : [];
    case 'same-name':
      return [`give one of the two another name, for example at ${place}`];
    case 'left-out':
      return ['run it without --strict-mcp-config, or name its scope with --setting-sources'];
    case 'managed':
      return [`ask those who run this machine to add it to ${managed}`];
    case 'shadowed':
      return winner && isInProgram(winner) ? [`to have both, give it another name at ${place}`] : [];
  }
}

/** An entry of the project that would count if somebody approved it. */
function waiting(lost: readonly LostServer[], word: string): string[] {
  return lost
    .filter(({ why }) => why === 'pending')
    .map(({ written }) => {
      const place = standText(standOf(written));
      return `to have the one of ${place} count instead, read it, then: toolplane mcp approve ${word}`;
    });
}

/** The value itself belongs into the environment or into the store, never into the file. */
function fillIn({ reference, where }: UseRow, place: string): string[] {
  const secret = /^\$\{secret:(.*)\}$/.exec(reference)?.[1];
  if (secret !== undefined) return [`set it: toolplane secret set ${shellWord(secret)}`];
  const name = reference.slice(2, -1);
  const other = isCredentialName(name)
    ? `or keep it for good: toolplane secret set ${name}, and write "\${secret:${name}}" in ${where} at ${place}`
    : `or give it a default: "\${${name}:-…}" in ${where} at ${place}`;
  return [`set it in this shell: export ${name}=…`, other];
}

/** What a person who meant another entry would do. */
function uncovering({ name, written, lost }: ConfiguredServer): string[] {
  const below = lost.find(({ why }) => why === 'shadowed');
  if (below === undefined) return [];
  const other = standText(standOf(below.written));
  const isOurs = written.scope === 'local' || written.scope === 'project' || written.scope === 'user';
  return isOurs && below.written.scope !== written.scope
    ? [
        `to have the one of ${other} count instead: toolplane mcp remove ${shellWord(name)} --scope ${written.scope}`,
      ]
    : [];
}
