import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import type { Meter } from './meter.ts';
import { type Shape, stepsOf } from './shape.ts';

/** What is said where nothing more exact can be. */
export const FURTHER = 'Further conditions hold, which the server checks.';

/** A condition that is only said, as the JSON it was, as far as it is short. */
export function sayCondition(lead: string, condition: unknown, meter: Meter): string {
  meter.walk(condition);
  const json = JSON.stringify(condition);
  return json.length > LONGEST ? FURTHER : `${lead} ${json}.`;
}

/** Alternatives at the root, each by its name, what it fixes and what it needs. */
export function sayAlternatives(lead: string, branches: readonly Shape[], meter: Meter): string {
  meter.spend((branches[0]?.required.size ?? 0) * branches.length);
  const shared = [...(branches[0]?.required ?? [])].filter((name) =>
    branches.every((branch) => branch.required.has(name)),
  );
  const said = branches.map((branch) => sayBranch(branch, new Set(shared), meter));
  const text = `${lead}: ${said.join('; ')}.`;
  return truncate(text, 4 * LONGEST);
}

const LONGEST = 500;

function sayBranch(branch: Shape, shared: ReadonlySet<string>, meter: Meter): string {
  meter.spend(stepsOf(branch) + shared.size);
  const { title, description } = Object.fromEntries(branch.remarks);
  const fixed = [...branch.properties].flatMap(([name, form]) => {
    const only = Array.isArray(form.enum) && form.enum.length === 1 ? form.enum[0] : form.const;
    if (only === undefined || isRecord(only)) return [];
    meter.walk(only);
    return [`${name} = ${JSON.stringify(only)}`];
  });
  const needed = [...branch.required].filter((name) => !shared.has(name));
  const parts = [
    ...(typeof title === 'string' ? [title] : []),
    ...(typeof description === 'string' ? [`(${description})`] : []),
    ...(fixed.length === 0 ? [] : [`with ${inWords(fixed)}`]),
    needed.length === 0 ? 'needs nothing more' : `needs ${inWords(needed)}`,
    ...branch.words,
  ];
  return parts.join(' ');
}

function inWords(list: readonly string[]): string {
  return list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list.at(-1)}`;
}
