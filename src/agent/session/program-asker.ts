import type { ControlChannel } from '../../control/channel.ts';
import type { Asker } from '../../permissions/ask.ts';
import { messageOf } from '../../protocol/sdk-error.ts';

/** Asks the program, through `can_use_tool`. A request that fails is a no: the program is there and did not say yes. */
export function programAsker(channel: () => ControlChannel): Asker {
  return {
    name: 'canUseTool',
    ask: async (question, signal) => {
      const { call, toolUseId, reason, suggestions, provenance, agentId, displayName } = question;
      const body = {
        subtype: 'can_use_tool',
        tool_name: call.name,
        ...(provenance && { mcp_server: provenance }),
        ...(displayName !== undefined && { display_name: displayName }),
        input: call.input,
        ...(suggestions.length > 0 && { permission_suggestions: suggestions }),
        decision_reason: reason.text,
        ...(reason.rule && { decision_reason_type: 'rule' }),
        ...(reason.annotation === 'requiresUserInteraction' && { requires_user_interaction: true }),
        // No allow rule overrides a rule that asks.
        ...((reason.rule || reason.annotation === 'requiresUserInteraction') && {
          suppress_always_allow_rule: true,
        }),
        ...(reason.changed && { tool_change: { server: call.server, tool: call.tool } }),
        tool_use_id: toolUseId,
        ...(agentId !== undefined && { agent_id: agentId }),
      };
      try {
        return (await channel().request(body, { signal })).response;
      } catch (cause) {
        if (signal.aborted) throw cause;
        return { behavior: 'deny', message: `Tool permission request failed: Error: ${messageOf(cause)}` };
      }
    },
  };
}
