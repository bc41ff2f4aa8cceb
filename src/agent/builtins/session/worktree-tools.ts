import { failedOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn, invalidInput } from '../built-in.ts';

/** Moves the session into a git worktree. */
export const ENTER_WORKTREE = defineBuiltIn({
  name: 'EnterWorktree',
  description:
    'Creates a git worktree below .claude/worktrees on a branch of its own and moves the session into it: all tools work ' +
    'there until ExitWorktree. Use it only if the user, or the instructions of the project, ask for a worktree; otherwise ' +
    'use branches. Outside a git repository it works only with WorktreeCreate hooks.',
  annotations: { title: 'Enter a worktree', readOnlyHint: false, destructiveHint: false },
  required: {},
  optional: {
    name: {
      type: 'string',
      description:
        'A name for a new worktree: letters, digits, dots, underscores and dashes, in segments separated by "/", at most ' +
        '64 characters. Without a name a random one is used. Not together with path.',
    },
    path: {
      type: 'string',
      description:
        'An existing worktree of the repository, as git worktree list shows it, to enter instead of a new one. Not together with name.',
    },
  },
  approval: 'never',
  async run({ name, path }, { services }, signal) {
    if (!services.worktree) return failedOutcome('EnterWorktree is not available in this session');
    if (name !== undefined && path !== undefined)
      return invalidInput('EnterWorktree', ['Provide at most one of `name` or `path`, not both.']);
    const fault = name === undefined ? undefined : services.worktree.nameFault(name);
    if (fault !== undefined) return invalidInput('EnterWorktree', [fault]);
    return services.worktree.enter(
      { ...(name !== undefined && { name }), ...(path !== undefined && { path }) },
      signal,
    );
  },
});

/** Leaves the worktree of the session. */
export const EXIT_WORKTREE = defineBuiltIn({
  name: 'ExitWorktree',
  description:
    'Leaves the worktree that EnterWorktree has entered, and returns to the original directory. Use it only if the user ' +
    'asks for it. Outside such a worktree it does nothing.',
  annotations: { title: 'Leave the worktree', readOnlyHint: false, destructiveHint: true },
  required: {
    action: {
      type: 'string',
      enum: ['keep', 'remove'],
      description: 'keep: the worktree and its branch stay. remove: both are deleted.',
    },
  },
  optional: {
    discard_changes: {
      type: 'boolean',
      description:
        'Must be true to remove a worktree with uncommitted files or with commits that no other branch has. Ask the user first.',
    },
  },
  approval: 'never',
  async run({ action, discard_changes: discards = false }, { services }, signal) {
    if (!services.worktree) return failedOutcome('ExitWorktree is not available in this session');
    return services.worktree.exit({ action, discards }, signal);
  },
});
