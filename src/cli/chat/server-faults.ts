import { isRecord } from '../../base/json-value.ts';

/** How a server is, and what is wrong with it if anybody said. */
export type ServerHealth = { readonly name: string; readonly status: string; readonly error?: string };

/** What is wrong with each server, by name, and the lines about what was not told yet. */
export type ServerFaults = {
  readonly faults: Readonly<Record<string, string>>;
  readonly lines: readonly string[];
};

/** Tells of servers that cannot be used, each fault once; one that is well again is forgotten. */
export function serverFaults(
  told: Readonly<Record<string, string>>,
  servers: readonly ServerHealth[],
): ServerFaults {
  const found = servers.flatMap(({ name, status, error }) =>
    TROUBLES.has(status) ? [[name, faultText(name, status, error)] as const] : [],
  );
  const fresh = found.filter(([name, fault]) => !Object.hasOwn(told, name) || told[name] !== fault);
  return {
    faults: Object.fromEntries(found),
    lines: fresh.map(([name, fault]) => `server ${name}: ${fault}`),
  };
}

/** The servers an `init` message names. */
export function serversOf({ mcp_servers }: Readonly<Record<string, unknown>>): ServerHealth[] {
  const all = Array.isArray(mcp_servers) ? mcp_servers : [];
  return all.filter(isRecord).map(({ name, status }) => ({ name: String(name), status: String(status) }));
}

/** A fault that names its server would name it twice. */
function faultText(name: string, status: string, error: string | undefined): string {
  return error ? `${status}: ${error.replace(`MCP server "${name}": `, '')}` : status;
}

const TROUBLES: ReadonlySet<string> = new Set(['failed', 'needs-auth']);
