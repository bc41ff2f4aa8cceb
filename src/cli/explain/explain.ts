import { BUILT_INS } from '../../agent/builtins/table.ts';
import type { Configuration } from '../../config/configuration.ts';
import { type CallFacts, explainPermission } from '../../config/explain/explain-permission.ts';

import { type Beside, explainServer } from '../../config/explain/explain-server.ts';
import { explainTimeout } from '../../config/explain/explain-timeout.ts';
import { explainTool, type LiveTools, namedTools } from '../../config/explain/explain-tool.ts';
import type { Explanation, ServerExplanation } from '../../config/explain/explanation.ts';
import { resolveTool } from '../../config/explain/resolve-tool.ts';
import type { ServerStatus } from '../../mcp/servers/server-status.ts';
import { policyRules, type Rule } from '../../permissions/rule.ts';

import { normalizeName } from '../../protocol/tool-name.ts';
import type { Piece } from '../chat/piece.ts';
import { permissionText, timeoutText, toolText } from './call-text.ts';
import { lookUp } from './look-up.ts';
import type { RealCall } from './real-call.ts';
import type { ExplainRequest } from './request.ts';
import { serversText, serverText } from './server-text.ts';

/** What those who were dialled said. */
export type Asked = {
  readonly statuses: Readonly<Record<string, ServerStatus>>;
  readonly live?: LiveTools;
  /** The arguments of the call as a session takes them. */
  readonly call?: RealCall;
};

export type Explained = {
  readonly document: Explanation | { readonly servers: readonly ServerExplanation[] };
  readonly pieces: readonly Piece[];
  readonly code: 0 | 1 | 2;
};

/** The answer to a request, for programs and for people, and its exit code. */
export function explain(configuration: Configuration, request: ExplainRequest, asked: Asked): Explained {
  const lookup = lookUp(configuration);
  const beside = (name: string): Beside => {
    const status = Object.hasOwn(asked.statuses, name) ? asked.statuses[name] : undefined;
    return { lookup, ...(status && { status }) };
  };
  if (request.name === undefined) {
    const names = [
      ...configuration.merged.servers.map((it) => it.name),
      ...configuration.merged.lost.map((it) => it.written.name),
    ];
    const servers = [...new Set(names)]
      .sort()
      .map((name) => explainServer(configuration, name, beside(name)));
    return { document: { servers }, pieces: serversText(servers), code: 0 };
  }
  const { name, more } = request;
  switch (request.about) {
    case 'server':
      return told(explainServer(configuration, name, beside(name)), serverText);
    case 'timeout':
      return told(explainTimeout(configuration, name, more), timeoutText);
    case 'permission':
      return told(
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
      const about = { ...(server === undefined ? { lookup } : beside(server)), live };
      return told(explainTool(configuration, whole, { ...about, rules: rulesOf(configuration) }), toolText);
    }
  }
}

/** `mcp__server` is about all tools of the server, as in a rule. */
function allOfServer({ merged }: Configuration, name: string): string {
  const isServer = merged.servers.some((it) => `mcp__${normalizeName(it.name)}` === name);
  return isServer ? `${name}__*` : name;
}

const CODES = { usable: 0, unusable: 1, unknown: 2 } as const;

function told<T extends Explanation>(explanation: T, text: (it: T) => Piece[]): Explained {
  return { document: explanation, pieces: text(explanation), code: CODES[explanation.standing] };
}

/** A tool as people name it: by one word, or by its server and its own name. */
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
    rules: rulesOf(configuration),
  };
}

/** What entries say about their own tools. */
function rulesOf({ merged }: Configuration): Rule[] {
  return policyRules(
    new Map(merged.servers.flatMap((it) => (it.entry ? [[it.name, { entry: it.entry }]] : []))),
  );
}
