import { readdirSync, readFileSync } from 'node:fs';

/** Sends a signal to a process and all it started in its group; false when none of them is there any more. */
export function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch (thrown) {
    // A member that took another user's rights is there, though not ours to end.
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Whether anything in the group still runs. What has ended is there until its parent has collected it, which the first
 * process of a container does late or never: where the system tells, such members do not count.
 */
export function isGroupRunning(leader: number): boolean {
  if (!signalGroup(leader, 0)) return false;
  const members = processes().filter(({ group }) => group === leader);
  return members.length === 0 || members.some(({ state }) => state !== 'Z' && state !== 'X');
}

/** Linux has them as files; elsewhere there are none. */
function processes(): { readonly state: string; readonly group: number }[] {
  try {
    const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return ids.flatMap((id) => {
      // After the name, which is in parentheses and may hold anything: state, parent, group.
      const [state, , group] = statOf(id)
        .replace(/^.*\) /s, '')
        .split(' ');
      return state && group ? [{ state, group: Number(group) }] : [];
    });
  } catch {
    return [];
  }
}

function statOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8');
  } catch {
    // It ended since it was listed.
    return '';
  }
}
