import type { Candidate } from './candidate.ts';

/** What `--all` takes, or why it leaves a server. */
export type Taking = { readonly kind: 'take' } | { readonly kind: 'leave'; readonly why: string };

export type TakeOptions = { readonly force: boolean; readonly projectFiles: boolean };

/** Decides without a person: nothing is replaced without `force`, nothing taken from the project without a word of it. */
export function taking({ standing, server, isOfProject }: Candidate, options: TakeOptions): Taking {
  const standingWhy = whyStanding(standing, options);
  if (standingWhy !== undefined) return { kind: 'leave', why: standingWhy };
  if (server.isOff) return { kind: 'leave', why: 'it is turned off there' };
  if (isOfProject && !options.projectFiles) {
    return { kind: 'leave', why: 'it stands in a file of the project, which --project-files takes' };
  }
  return { kind: 'take' };
}

/** Whether a person can be asked about it at all. */
export function isOpenToChoice({ standing }: Candidate): boolean {
  return standing.kind === 'new' || standing.kind === 'differs';
}

/** Whether something of that name was in the way, which whoever wanted all of them must learn. */
export function isInTheWay({ standing }: Candidate): boolean {
  return standing.kind === 'differs' || standing.kind === 'clash';
}

function whyStanding(standing: Candidate['standing'], { force }: TakeOptions): string | undefined {
  switch (standing.kind) {
    case 'new':
      return undefined;
    case 'there':
      return standing.replaces && force ? undefined : `it is already there: ${standing.where}`;
    case 'differs':
      return force ? undefined : `another one of that name is there: ${standing.where}; --force replaces it`;
    case 'twin':
      return `it is the same as that of ${standing.where}`;
    case 'clash':
      return `${standing.where} has another one of that name; name this source alone to take it`;
  }
}
