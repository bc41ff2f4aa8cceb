import { isRecord } from '../../base/is-record.ts';
import { INTERNAL } from '../../protocol/json-rpc.ts';
import { ServerFault } from './server-fault.ts';

/** The error of an answer, whatever it looks like: somebody waits for it. */
export function faultOfError(server: string, error: unknown): ServerFault {
  const { code, message, data }: Record<string, unknown> = isRecord(error) ? error : { message: error };
  const words = typeof message === 'string' ? message : '';
  return new ServerFault(server, typeof code === 'number' ? code : 0, words, data);
}

/** What is wrong with a result, if that would break whoever reads it; unknown members are welcome. */
export function faultOfResult(server: string, method: string, result: unknown): ServerFault | undefined {
  const fault = isRecord(result) ? faultOfMembers(method, result) : NO_ANSWER;
  return fault === undefined
    ? undefined
    : new ServerFault(server, INTERNAL, `MCP server "${server}": ${fault}`);
}

const NO_ANSWER = 'its answer is neither a result nor an error';

function faultOfMembers(method: string, { content }: Record<string, unknown>): string | undefined {
  if (method !== 'tools/call' || content === undefined || Array.isArray(content)) return undefined;
  return 'the "content" of its result is no list; whoever made the server has to mend that';
}
