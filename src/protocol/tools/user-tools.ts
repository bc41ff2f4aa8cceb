// Inputs and outputs of the built-in tools that ask, notify or propose something to the user.
import type { NoInput, ToolEffort } from './task-tools.ts';

/** Input of `AskUserQuestion`: one to four questions with two to four options each. */
export type AskUserQuestionInput = {
  questions: OneToThree<Question> | Four<Question>;
  answers?: { [question: string]: string };
  annotations?: { [question: string]: { preview?: string; notes?: string } };
  metadata?: { source?: string };
};

export type AskUserQuestionOutput = {
  questions: Question[];
  /** By the text of the question; several selected options are joined by commas. */
  answers: { [question: string]: string };
  response?: string;
  annotations?: {
    [question: string]: {
      preview?: string;
      notes?: string;
      unanswered?: 'skipped' | 'replied_in_chat' | 'dismissed';
    };
  };
  afkTimeoutMs?: number;
};

type Question = {
  question: string;
  header: string;
  options: [Choice, Choice] | [Choice, Choice, Choice] | Four<Choice>;
  multiSelect: boolean;
};

type Choice = { label: string; description: string; preview?: string };

type OneToThree<T> = [T] | [T, T] | [T, T, T];
type Four<T> = [T, T, T, T];

export type ProposeSkillsInput = { proposals: OneToThree<SkillProposal> };

/** `edits` change an existing skill; `skillMd` is the text of a new one. */
type SkillProposal = {
  name: string;
  kind: 'new' | 'improvement';
  target?: string;
  description: string;
  evidence?: string[];
  edits?: [TextEdit, ...TextEdit[]];
  skillMd?: string;
};

type TextEdit = { old_string: string; new_string: string };

export type ProposeSkillsOutput = { proposalCount: number };

export type ProposeGoalInput = { condition: string; ask_user?: boolean };

export type ProposeGoalOutput = { condition: string; askUser: boolean };

export type ReportFindingsInput = { level?: ToolEffort; findings: Finding[] };

export type ReportFindingsOutput = { count: number; level?: ToolEffort; findings: Finding[] };

type Finding = {
  file: string;
  line?: number;
  summary: string;
  short_summary?: string;
  failure_scenario: string;
  category?: string;
  verdict?: 'CONFIRMED' | 'PLAUSIBLE';
  outcome?: 'fixed' | 'skipped' | 'no_change_needed';
};

export type SendFeedbackInput = {
  type: 'bug' | 'idea' | 'missing_capability';
  title: string;
  details: string;
  area?: string;
  failure_mode?: FailureMode;
  task_category?: 'code_edit' | 'debug' | 'explain' | 'plan' | 'shell' | 'search' | 'review' | 'other';
};

type FailureMode =
  | 'instruction_following'
  | 'destructive_actions'
  | 'code_quality'
  | 'repetition_and_looping'
  | 'model_regression'
  | 'overconfidence_and_hallucination'
  | 'context_and_memory'
  | 'overeager'
  | 'over_correction'
  | 'stopping_short'
  | 'dispute_or_decline'
  | 'subagent_overspawn'
  | 'tone_or_preachiness'
  | 'excessive_questions'
  | 'unwanted_scope'
  | 'other';

export type SendFeedbackOutput = { success: boolean; message: string };

export type PushNotificationInput = { message: string; status?: 'proactive' };

export type PushNotificationOutput = {
  message: string;
  pushSent?: boolean;
  localSent?: boolean;
  disabledReason?: 'config_off' | 'user_present' | 'no_transport';
  sentAt?: string;
};

export type ReadNotificationsInput = NoInput;

/** Times are in RFC 3339. */
export type ReadNotificationsOutput = {
  notifications: {
    notification_id: string;
    origin: string;
    queued_at: string;
    content: string;
    arrived_at?: string;
  }[];
  remaining: number;
  read_at?: string;
};

export type ShowOnboardingRolePickerInput = NoInput;

export type ShowOnboardingRolePickerOutput = { role?: string; dismissed?: boolean };

export type OfferChromeSetupInput = { reason?: string };

export type OfferChromeSetupOutput = { outcome: 'connected' | 'not_now' | 'no_attempt_yet' };
