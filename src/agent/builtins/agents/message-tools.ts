import { isRecord } from '../../../base/json-value.ts';
import { failedOutcome } from '../../loop/run-calls.ts';
import { type BuiltIn, defineBuiltIn, type Members } from '../built-in.ts';
import type { AgentRow } from './agent-service.ts';
import type { ProtocolMessage } from './team-service.ts';

/** The members of protocol messages between the lead and its teammates. */
const PROTOCOL = {
  type: {
    type: 'string',
    enum: ['message', 'shutdown_request', 'shutdown_response', 'plan_approval_response'],
    description:
      'Default: message. The lead sends shutdown_request to ask a teammate to end, and plan_approval_response to answer a plan; a teammate sends shutdown_response to answer a shutdown request.',
  },
  request_id: { type: 'string', description: 'The id of the request that this message answers.' },
  approve: { type: 'boolean', description: 'Whether you approve the request or the plan.' },
} as const satisfies Members;

/** Sends a message to another agent of the session. */
export const SEND_MESSAGE = defineSendMessage(false);
/** `SEND_MESSAGE` for sessions with teams. */
export const TEAM_SEND_MESSAGE = defineSendMessage(true);

function defineSendMessage(hasTeams: boolean): BuiltIn {
  return defineBuiltIn({
    name: 'SendMessage',
    description:
      'Sends a message to another agent: by its id, by the name it was started with, or "main" for the main conversation. ' +
      'Other agents see nothing else that you write. A running agent gets the message after its current tool calls; ' +
      'an agent that has ended continues with it, and you are notified of its end again.',
    annotations: { title: 'Send a message', readOnlyHint: false, destructiveHint: false },
    required: {
      to: { type: 'string', minLength: 1, description: 'The id or name of the agent, or "main".' },
      message: { type: 'string', minLength: 1, description: 'The text.' },
    },
    optional: {
      summary: { type: 'string', description: 'The message in five to ten words, for the user.' },
      notify_when_idle: { type: 'boolean', description: 'Has no effect: you are always notified.' },
      ...(hasTeams ? PROTOCOL : {}),
    },
    ...(hasTeams && { completed: flattened }),
    approval: 'never',
    concurrency: 'others',
    async run(input, { services, toolUseId }) {
      if (!services.agents) return failedOutcome('SendMessage is not available in this session');
      const { to, message } = input;
      const { type: kind = 'message', request_id: requestId, approve: isApproved } = input as ProtocolInput;
      const protocol = kind === 'message' ? undefined : { kind, requestId, isApproved };
      const sent = services.agents.send(to, message, toolUseId, protocol);
      return { content: [{ type: 'text', text: JSON.stringify(sent) }], isError: false, programResult: sent };
    },
  });
}

type ProtocolInput = {
  readonly type?: 'message' | ProtocolMessage['kind'];
  readonly request_id?: string;
  readonly approve?: boolean;
};

/**
 * The input in the form of the schema: other agents name the text `content` and the type `msg_type`, or send an object as
 * the message.
 */
function flattened({
  content,
  msg_type,
  ...input
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { message = content, type = msg_type, ...others } = input;
  const { type: kind = type, reason, feedback, ...members } = isRecord(message) ? message : {};
  const text = isRecord(message) ? (reason ?? feedback) : message;
  return {
    ...others,
    ...members,
    // A request or an answer needs no text.
    ...((text !== undefined || kind !== undefined) && { message: text ?? String(kind) }),
    ...(kind !== undefined && { type: kind }),
  };
}

/** Lists the agents of the session. */
export const LIST_AGENTS = defineBuiltIn({
  name: 'ListAgents',
  description: 'Lists the sub-agents of this session with name, id, type and status.',
  annotations: { title: 'List agents', readOnlyHint: true },
  required: {},
  optional: {},
  async run(_, { services }) {
    if (!services.agents) return failedOutcome('ListAgents is not available in this session');
    const agents = services.agents.list();
    const listing = listingOf(agents, Date.now());
    const rows = agents.map(({ startedAt: _at, ...row }) => row);
    const sections = rows.length === 0 ? [] : [{ kind: 'subagents', total: rows.length, rows }];
    return { content: listing, isError: false, programResult: { listing, sections, notes: [] } };
  },
});

function listingOf(agents: readonly AgentRow[], now: number): string {
  if (agents.length === 0) return 'This session has no sub-agents.';
  const rows = agents.map(
    ({ name, ref, type, status, startedAt }) =>
      `  ${name} [${ref}]  ·  ${type}  ·  ${status}  ·  started ${Math.round((now - startedAt) / 1000)}s ago`,
  );
  return [`Subagents (${agents.length}):`, ...rows].join('\n');
}
