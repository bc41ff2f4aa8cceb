import { normalizeName } from './tool-name.ts';

/**
 * Where a member that other programs put into an entry belongs here, as what is said of it; undefined of one that nobody
 * has.
 */
export function foreignMember(server: string, member: string): string | undefined {
  return Object.hasOwn(ELSEWHERE, member) ? ELSEWHERE[member]?.(server) : undefined;
}

/** The same of all such members of an entry, each with its name. */
export function foreignMembers(server: string, entry: object): string[] {
  return Object.keys(entry).flatMap((member) => {
    const said = foreignMember(server, member);
    return said === undefined ? [] : [`"${member}" ${said}`];
  });
}

const rules = (server: string) =>
  `means nothing here; what runs without a question stands in settings: "permissions": {"allow": ["mcp__${normalizeName(server)}__<tool>"]}`;

const ELSEWHERE: Readonly<Record<string, (server: string) => string>> = {
  transport: () => 'is "type" here, which is "stdio", "http", "sse" or "ws"',
  httpUrl: () => 'is "url" here, with "type": "http"',
  serverUrl: () => 'is "url" here',
  autoApprove: rules,
  alwaysAllow: rules,
};
