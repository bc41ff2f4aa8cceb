import { realInput, ruleLinks } from '../../agent/builtins/files/real-path.ts';

import { BUILT_INS } from '../../agent/builtins/table.ts';
import type { Configuration } from '../../config/configuration.ts';
import { type CallFacts, workspaceOf } from '../../config/explain/explain-permission.ts';

import { absolutePath } from '../../permissions/path.ts';
import type { ExplainRequest } from './request.ts';

/** What is known of the arguments of a call once its path is looked up. */
export type RealCall = Pick<CallFacts, 'input' | 'fault' | 'path' | 'links'>;

/** The arguments as a session decides on them: links lead where they lead. */
export async function realCall(
  configuration: Pick<Configuration, 'world' | 'settings'>,
  { about, name, input }: ExplainRequest,
): Promise<RealCall> {
  const builtIn = BUILT_INS.find(({ listed }) => listed.name === name);
  if (about !== 'permission' || builtIn === undefined || input === undefined) return {};
  const workspace = workspaceOf(configuration);
  const real = await realInput(builtIn, input, workspace);
  if (real.kind === 'unresolved') return { fault: real.fault };
  const links = await ruleLinks(configuration.settings.rules, workspace);
  const { pathMember = '' } = builtIn;
  const written = input[pathMember];
  const path = real.input[pathMember];
  const isOther =
    typeof written === 'string' && typeof path === 'string' && absolutePath(written, workspace) !== path;
  return { input: real.input, links, ...(isOther && { path }) };
}
