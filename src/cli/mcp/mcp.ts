import type { Command } from 'commander';
import { addCommands, type CommandRow } from '../command-table.ts';

/** One row per sub-command, in the order of `--help`. */
const COMMANDS: readonly CommandRow[] = [
  {
    name: 'add',
    summary: 'Add a server: a command or a URL.',
    load: async () => (await import('./add.ts')).defineAdd,
  },
  {
    name: 'add-json',
    summary: 'Add a server from its JSON entry.',
    load: async () => (await import('./add.ts')).defineAddJson,
  },
  {
    name: 'list',
    summary: 'List the servers and their status.',
    load: async () => (await import('./list.ts')).defineList,
  },
  {
    name: 'ls',
    summary: 'List the servers and their status.',
    isHidden: true,
    load: async () => (await import('./list.ts')).defineList,
  },
  {
    name: 'get',
    summary: 'Show one server: where it is defined, and its status.',
    load: async () => (await import('./get.ts')).defineGet,
  },
  {
    name: 'doctor',
    summary: 'Check every configuration file and server, and suggest fixes.',
    load: async () => (await import('./doctor/doctor.ts')).defineDoctor,
  },
  {
    name: 'remove',
    summary: 'Remove a server from its file.',
    load: async () => (await import('./remove.ts')).defineRemove,
  },
  {
    name: 'rm',
    summary: 'Remove a server from its file.',
    isHidden: true,
    load: async () => (await import('./remove.ts')).defineRemove,
  },
  {
    name: 'import',
    summary: 'Import servers from other programs.',
    load: async () => (await import('./import/import.ts')).defineImport,
  },
  {
    name: 'add-from-claude-desktop',
    summary: 'Import the servers of Claude Desktop.',
    isHidden: true,
    load: async () => (await import('./import/import.ts')).defineAddFromClaudeDesktop,
  },
  {
    name: 'approve',
    summary: 'Approve servers and settings of this project.',
    load: async () => (await import('./approve/approve.ts')).defineApprove,
  },
  {
    name: 'reject',
    summary: 'Reject servers and settings of this project.',
    load: async () => (await import('./approve/approve.ts')).defineReject,
  },
  {
    name: 'reset-project-choices',
    summary: 'Remove the approvals and rejections of this project.',
    load: async () => (await import('./approve/approve.ts')).defineResetProjectChoices,
  },
  {
    name: 'login',
    summary: 'Sign in to a remote server.',
    load: async () => (await import('./login.ts')).defineLogin,
  },
  {
    name: 'logout',
    summary: 'Sign out of a remote server.',
    load: async () => (await import('./login.ts')).defineLogout,
  },
  {
    name: 'xaa',
    summary: 'Sign in once at the identity provider of your organization.',
    load: async () => (await import('./xaa.ts')).defineXaa,
  },
  {
    name: 'serve',
    summary: 'Serve Read, Glob and Grep, and with flags Edit, Write and Bash, over stdio to any MCP client.',
    load: async () => (await import('./serve.ts')).defineMcpServe,
  },
];

const HELP = `
  toolplane mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolplane mcp add docs https://docs.example.com/mcp -H 'Authorization: Bearer \${DOCS_TOKEN}'
  toolplane mcp list                       every server with its file and status
  toolplane mcp approve                    review and approve servers of the project

Files, highest precedence first:
  .toolplane/settings.local.json           scope local: this project, only for you
  .mcp.json                                scope project: this project, shared
  ~/.toolplane/settings.json               scope user: all your projects

The first two are read from every directory between the working directory and the root of the repository, nearest first.
Entries of a project are active only after you approve them: toolplane mcp approve. Entries that you add are approved.
\${VAR}, \${VAR:-default} and \${secret:NAME} are substituted when a server starts, never when a file is written.

Exit codes:
  0    success
  1    failure, or a server that cannot be used; the reason is on stderr
  2    usage error
  130  interrupted (129, 143: hangup, termination)`;

/** `toolplane mcp`: the servers that are configured. */
export function defineMcp(command: Command): void {
  addCommands(command.addHelpText('after', HELP), COMMANDS);
}
