import type { ToolOutcome } from '../../loop/run-calls.ts';

/** A message of the team's protocol, as `SendMessage` gets it. */
export type ProtocolMessage = {
  readonly kind: 'shutdown_request' | 'shutdown_response' | 'plan_approval_response';
  readonly requestId?: string | undefined;
  readonly isApproved?: boolean | undefined;
};

/** A team, as the tools of the lead or of one teammate use it. */
export type TeamService = {
  /** Starts a task of the task list: the one with this id, or the first that is free. */
  claim(taskId: string | undefined, signal: AbortSignal): Promise<ToolOutcome>;
  /** Completes a task that the agent has started, by default its current one. */
  complete(taskId: string | undefined, signal: AbortSignal): Promise<ToolOutcome>;
  /** Sends a plan to the lead, which approves or rejects it. */
  submitPlan(plan: string): ToolOutcome;
};
