import type { Reply, ServedRequest } from '../control/channel.ts';
import type { Frame } from '../protocol/control-frame.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { Bridge } from './bridge.ts';
import { type RegisteredHooks, runHook } from './hooks.ts';
import type { Options } from './options.ts';
import { askPermission } from './permission.ts';
import { askDialog, askElicitation } from './questions.ts';

/** What the program has at hand to serve its agent with. */
export type Servants = {
  readonly bridge: Bridge;
  readonly hooks: RegisteredHooks;
  readonly options: Options;
};

type Serve = (servants: Servants, body: Frame, served: ServedRequest) => Reply | Promise<Reply>;

/** Everything an agent may ask, by subtype; tool calls come under two names (R46, C4). */
const REQUESTS: ReadonlyMap<string, Serve> = new Map<string, Serve>([
  ['mcp_message', ({ bridge }, body, served) => bridge.serve(body, served)],
  ['sdk_mcp_request', ({ bridge }, body, served) => bridge.serve(body, served)],
  ['can_use_tool', ({ options }, body, served) => askPermission(options.canUseTool, body, served)],
  ['hook_callback', ({ hooks }, body, served) => runHook(hooks, body, served.signal)],
  ['elicitation', ({ options }, body, served) => askElicitation(options.onElicitation, body, served)],
  ['request_user_dialog', ({ options }, body, served) => askDialog(options.onUserDialog, body, served)],
]);

/** Serves one request of the agent; an unknown one is refused by name. */
export function serveAgent(
  servants: Servants,
  subtype: string,
  body: Frame,
  served: ServedRequest,
): Reply | Promise<Reply> {
  const serve = REQUESTS.get(subtype);
  if (serve) return serve(servants, body, served);
  throw new SdkError('control-failed', `Unsupported control request subtype: ${subtype}`, {
    errorCode: 'unsupported_request',
  });
}

/** What to say instead of a reply that cannot be written as JSON. */
export function replaceReply(
  { bridge }: Servants,
  subtype: string,
  body: Frame,
  cause: unknown,
): Frame | undefined {
  return subtype === 'mcp_message' || subtype === 'sdk_mcp_request' ? bridge.replace(body, cause) : undefined;
}
