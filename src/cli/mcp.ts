import type { Command } from 'commander';
import { addAdd } from './mcp/add.ts';
import { addFromClaudeDesktop } from './mcp/add-from-claude-desktop.ts';
import { addAddJson } from './mcp/add-json.ts';
import { addApprove } from './mcp/approve.ts';
import { addDoctor } from './mcp/doctor.ts';
import { addGet } from './mcp/get.ts';
import { addImport } from './mcp/import.ts';
import { addList } from './mcp/list.ts';
import { addLogin } from './mcp/login.ts';
import { addReject } from './mcp/reject.ts';
import { addRemove } from './mcp/remove.ts';
import { addResetProjectChoices } from './mcp/reset-project-choices.ts';
import { addMcpServe } from './mcp/serve.ts';

/** One row a sub-command: each is a file of `mcp/`. */
const COMMANDS: readonly ((mcp: Command) => void)[] = [
  addAdd,
  addAddJson,
  addList,
  addGet,
  addDoctor,
  addRemove,
  addImport,
  addFromClaudeDesktop,
  addApprove,
  addReject,
  addResetProjectChoices,
  addLogin,
  addMcpServe,
];

const HELP = `
  toolplane mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolplane mcp add docs https://docs.example.com/mcp -H 'Authorization: Bearer \${DOCS_TOKEN}'
  toolplane mcp list                       every server, where it stands, and how it is
  toolplane mcp approve                    look at what the project brings, and decide

Files, the highest precedence first:
  .toolplane/settings.local.json           scope local: this project, for you alone
  .mcp.json                                scope project: this project, for everybody who works on it
  ~/.toolplane/settings.json               scope user: all your projects

The first two are looked for in every directory from here up to the root of the repository, the nearer one first. What
stands in a project counts only once you have approved it: toolplane mcp approve. What you add here is approved by that.
\${VAR}, \${VAR:-default} and \${secret:NAME} are put in when a server is started, never when a file is written.

Exit codes:
  0    done
  1    it failed, or a server is broken; the reason is on stderr
  2    the command was not understood
  130  it was interrupted (129, 143: hung up, terminated)`;

/** `toolplane mcp`: which servers are configured, and by whom. */
export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .description('Configure MCP servers: add, list, look at, remove, approve.')
    .enablePositionalOptions()
    .addHelpText('after', HELP);
  for (const add of COMMANDS) add(mcp);
}
