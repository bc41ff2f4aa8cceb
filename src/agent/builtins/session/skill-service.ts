import type { ToolOutcome } from '../../loop/run-calls.ts';

/** A call of `Skill`. */
export type SkillRequest = {
  readonly name: string;
  readonly args: string;
  /** The id of the call. */
  readonly toolUseId: string;
  /** Whether a person was asked about this call and allowed it. */
  readonly isApproved: boolean;
};

/** The skills of a session, as the tools of one agent use them. */
export type SkillService = {
  /** Why using the skill requires approval; undefined if it does not. */
  doubt(name: string): string | undefined;
  /** Loads a skill: the outcome has its text as a follow-up, or the report of the sub-agent that has run it. */
  use(request: SkillRequest, signal: AbortSignal): Promise<ToolOutcome>;
};
