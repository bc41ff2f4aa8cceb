import { realInput, ruleLinks } from '../../../agent/builtins/files/real-path.ts';
import { certainEffect } from '../../../agent/builtins/shell/certain-effect.ts';
import { BUILT_INS } from '../../../agent/builtins/table.ts';
import type { Configuration } from '../../../config/configuration.ts';
import {
  type CallFacts,
  explainPermission,
  workspaceOf,
} from '../../../config/explain/explain-permission.ts';
import { explainServer } from '../../../config/explain/explain-server.ts';
import { explainTimeout } from '../../../config/explain/explain-timeout.ts';
import { explainTool, type LiveTools, namedTools } from '../../../config/explain/explain-tool.ts';
import type { Explanation, ServerExplanation } from '../../../config/explain/explanation.ts';
import { resolveTool } from '../../../config/explain/resolve-tool.ts';
import { serverNames } from '../../../config/explain/server-record.ts';
import type { ConfigFlags } from '../../../config/sources/source-types.ts';
import { absolutePath } from '../../../permissions/path.ts';
import { parseRule, policyRules, type Rule } from '../../../permissions/rule.ts';
import { subjectMember } from '../../../permissions/subject.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import { isMcpToolName, mcpServerRule } from '../../../protocol/tool-name.ts';
import type { Observe } from '../../mcp/session.ts';
import type { Piece } from '../../terminal/render.ts';
import { permissionText, serversText, serverText, timeoutText, toolText } from './views.ts';

/** What to explain, and with which flags. */
export type ExplainRequest = {
  readonly about: 'server' | 'tool' | 'permission' | 'timeout';
  /** Without a name, all servers. */
  readonly name?: string;
  /** The tool's own name, if `name` is a server. */
  readonly more?: string;
  readonly wanted: ConfigFlags;
  readonly connects: boolean;
  readonly format: 'text' | 'json';
  /** The arguments of the call. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** The call was written as in a rule; the explanation shows the parsed arguments. */
  readonly isWritten?: boolean;
  readonly mode?: PermissionMode;
};

/** What connecting to servers showed. */
export type Asked = {
  readonly observe: Observe;
  readonly live?: LiveTools;
  /** The arguments as a session sees them. */
  readonly call?: RealCall;
};

type Explained = {
  readonly document: Explanation | { readonly servers: readonly ServerExplanation[] };
  readonly pieces: readonly Piece[];
  readonly code: 0 | 1 | 2;
};

/** The explanation as JSON and as text, and the exit code. */
export function explainRequest(
  configuration: Configuration,
  request: ExplainRequest,
  asked: Asked,
): Explained {
  const { observe } = asked;
  if (request.name === undefined) {
    const servers = serverNames(configuration).map((name) =>
      explainServer(configuration, name, observe(name)),
    );
    return { document: { servers }, pieces: serversText(servers), code: 0 };
  }
  const { name, more } = request;
  switch (request.about) {
    case 'server':
      return explained(explainServer(configuration, name, observe(name)), serverText);
    case 'timeout':
      return explained(explainTimeout(configuration, name, more), timeoutText);
    case 'permission':
      return explained(
        {
          ...explainPermission(
            configuration,
            allOfServer(configuration, name),
            factsOf(configuration, request, asked.call),
          ),
          ...(request.isWritten && request.input && { input: request.input }),
        },
        permissionText,
      );
    case 'tool': {
      const whole = toolName(request);
      const { server } = resolveTool(configuration, whole, asked.live && namedTools(asked.live));
      const live = asked.live ?? { tools: [], builtIns: BUILT_IN_NAMES };
      const observed = { ...observe(server ?? ''), live, rules: rulesOf(configuration) };
      return explained(explainTool(configuration, whole, observed), toolText);
    }
  }
}

/** `mcp__server` means all tools of the server, as in a rule. */
function allOfServer({ merged }: Configuration, name: string): string {
  const isServer = merged.servers.some((it) => mcpServerRule(it.name) === name);
  return isServer ? `${name}__*` : name;
}

const CODES = { usable: 0, unusable: 1, unknown: 2 } as const;

function explained<T extends Explanation>(explanation: T, text: (it: T) => Piece[]): Explained {
  return { document: explanation, pieces: text(explanation), code: CODES[explanation.status] };
}

/** The full name, or the full name from a server and a tool. */
export function toolName({ name = '', more }: Pick<ExplainRequest, 'name' | 'more'>): string {
  return more === undefined ? name : `${name}/${more}`;
}

export const BUILT_IN_NAMES: readonly string[] = BUILT_INS.map(({ listed }) => listed.name);

function factsOf(
  configuration: Configuration,
  { name = '', input, mode }: ExplainRequest,
  call: RealCall = {},
): CallFacts {
  const builtIn = BUILT_INS.find(({ listed }) => listed.name === name);
  return {
    ...(input && { input }),
    ...call,
    ...(mode !== undefined && { mode }),
    isBuiltIn: builtIn !== undefined,
    builtIns: BUILT_IN_NAMES,
    ...(builtIn?.listed.annotations && { annotations: builtIn.listed.annotations }),
    ...(builtIn?.approval && { approval: builtIn.approval }),
    rules: rulesOf(configuration),
  };
}

/** Rules from server entries. */
function rulesOf({ merged }: Configuration): Rule[] {
  return policyRules(
    new Map(merged.servers.flatMap((it) => (it.entry ? [[it.name, { entry: it.entry }]] : []))),
  );
}

/** A call as written in a rule: the tool, and the arguments in parentheses. */
type WrittenCall = { readonly name: string; readonly input?: Readonly<Record<string, string>> };

/**
 * Parses `Tool` or `Tool(argument)`: `Bash(git push)` is a call of Bash with that command, `Read(a.txt)` one
 * of Read with that path. A trailing `:*` or ` *` is not part of the command. Returns an error if it is not a call.
 */
export function readCall(
  text: string,
  builtIns: readonly string[],
): WrittenCall | { readonly fault: string } {
  if (!/[()]/.test(text)) return { name: text };
  const parsed = parseRule(text, 'ask', 'cliArg');
  if (parsed.ok) {
    const { tool: name, content } = parsed.rule;
    const member = subjectMember(name);
    if (content === undefined || member === undefined) return { name };
    return {
      name,
      input: { [member]: member === 'command' ? content.replace(/(?::\*| \*)$/, '') : content },
    };
  }
  const { code, message } = parsed.diagnostic;
  const name = text.slice(0, text.indexOf('(')).trim();
  const isUnknown = code === 'RULE_TAKES_NO_PATTERN' && !isMcpToolName(name) && !builtIns.includes(name);
  return isUnknown ? { name } : { fault: message };
}

/** The arguments of a call with its path resolved. */
type RealCall = Pick<CallFacts, 'input' | 'fault' | 'path' | 'links' | 'effect'>;

/** Resolves symbolic links in the arguments, as a session does. */
export async function realCall(
  configuration: Pick<Configuration, 'context' | 'settings'>,
  { about, name, input }: ExplainRequest,
): Promise<RealCall> {
  const builtIn = BUILT_INS.find(({ listed }) => listed.name === name);
  if (about !== 'permission' || builtIn === undefined || input === undefined) return {};
  const workspace = workspaceOf(configuration);
  const real = await realInput(builtIn, input, workspace);
  if (real.kind === 'unresolved') return { fault: real.fault };
  const links = await ruleLinks(configuration.settings.rules, workspace);
  const { pathMember = '', commandMember = '' } = builtIn;
  const { [commandMember]: command } = input;
  const effect =
    typeof command === 'string' ? await certainEffect(command, workspace, process.env) : undefined;
  const written = input[pathMember];
  const path = real.input[pathMember];
  const isOther =
    typeof written === 'string' && typeof path === 'string' && absolutePath(written, workspace) !== path;
  return { input: real.input, links, ...(isOther && { path }), ...(effect && { effect }) };
}
