import type { Configuration } from './configuration.ts';
import { faultText, placeText } from './fault-text.ts';
import type { ConfigFault, ConfiguredServer } from './model.ts';

/** What nothing may be started with: what was given for this very run, or by those who run the machine, cannot be read. */
export function fatalFaults({ faults, sources, unreadPolicies }: Configuration): string[] {
  const unusable = new Set(sources.filter(({ state }) => state === 'unusable').flatMap((it) => it.faults));
  const isFatal = (fault: ConfigFault) =>
    fault.isFatal === true ||
    (fault.scope === 'program' && (unusable.has(fault) || fault.key === undefined)) ||
    unreadPolicies.includes(fault.label);
  return faults.filter(isFatal).map(faultText);
}

/** What a person should know of a configuration that is put to use: what does not count, and what to do. One line each. */
export function sayStart({ merged, settings, faults, unused }: Configuration): string[] {
  return [
    ...faults.map(faultText),
    // What was given for this very run was given for an effect.
    ...unused.filter((text) => text.startsWith('--settings')),
    ...merged.servers.flatMap(sayServer),
    ...merged.lost.filter(({ why }) => why === 'pending').map(({ written }) => pendingText(written)),
    ...settings.pending.map(
      ({ label, choice }) =>
        `${label} ${choice === 'new' ? 'waits for approval' : 'changed since it was approved'}, so only what it forbids counts: run "toolplane mcp approve --settings"`,
    ),
  ];
}

function sayServer({ name, written, verdict, lost }: ConfiguredServer): string[] {
  const said = lost.filter(({ why }) => why === 'pending').map((it) => pendingText(it.written));
  if (verdict.kind === 'pending') return [...said, pendingText(written, verdict.choice)];
  if (verdict.kind !== 'blocked') return said;
  const where = placeText(written.label, written.position);
  return [...said, `server "${name}" of ${where} was not started: ${verdict.rule} forbids it`];
}

function pendingText(
  { name, label, position }: ConfiguredServer['written'],
  choice: 'new' | 'changed' = 'new',
): string {
  const why = choice === 'new' ? 'waits for approval' : 'changed since it was approved';
  return `server "${name}" of ${placeText(label, position)} ${why} and was not started: run "toolplane mcp approve ${name}"`;
}
