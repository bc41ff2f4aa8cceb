import { hashEntry } from '../approval/hash-entry.ts';
import type { Configuration } from '../configuration.ts';
import type { WrittenServer } from '../model.ts';
import type { ServerExplanation } from './explanation.ts';

type Approval = ServerExplanation['approval'];

/** Whether a person has to approve the entry, and what they said. */
export function approvalOf(
  { choices, root, world }: Pick<Configuration, 'choices' | 'root' | 'world'>,
  written: WrittenServer,
): Approval {
  if (written.scope !== 'project' && written.scope !== 'local') {
    return { isNeeded: false, says: `not needed: ${WHY_NOT[written.scope]}` };
  }
  const choice = choices.ofServer(written);
  const hash = hashEntry(written.raw);
  const common = { isNeeded: true, ...(hash !== undefined && { hash }) };
  const directory = root ?? world.cwd;
  // Who rejected this very entry means it, also in a repository they trust.
  if (choice !== 'rejected' && choices.isTrusted(directory)) {
    return { ...common, choice: 'trusted', says: `everything in ${directory} is trusted on this machine` };
  }
  return { ...common, choice, says: SAID[choice] };
}

const WHY_NOT: Readonly<Record<Exclude<WrittenServer['scope'], 'project' | 'local'>, string>> = {
  connector: 'a person named the catalogue in settings',
  plugin: 'a person named the plugin',
  user: 'it is in your own settings',
  program: 'it was given with the command',
  managed: 'it is in the managed file of this machine',
};

const SAID = {
  approved: 'this content was approved on this machine',
  rejected: 'this content was rejected on this machine',
  new: 'nobody on this machine has approved it yet',
  changed: 'it was approved, and has changed since; what it says now has to be approved anew',
} as const;
