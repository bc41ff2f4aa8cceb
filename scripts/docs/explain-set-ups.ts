/** One configuration problem and the question a user would ask. */
export type ExplainSetUp = {
  readonly title: string;
  /** The problem in the user's words. */
  readonly story: string;
  /** Files by path: `~` is the home directory, `/etc/toolplane` managed configuration, all others are in the project. */
  readonly files: Readonly<Record<string, string>>;
  /** The content of project files when they were approved. */
  readonly approved?: Readonly<Record<string, string>>;
  /** The last response of each connector, by URL. */
  readonly catalogues?: Readonly<Record<string, object>>;
  /** Arguments of `toolplane explain`. */
  readonly args: readonly string[];
};

const USER = '~/.toolplane/settings.json';
const LOCAL = '.toolplane/settings.local.json';
const MANAGED = '/etc/toolplane/managed-mcp.json';
const POLICY = '/etc/toolplane/managed-settings.json';

/** A file with these servers, one entry per line. */
function servers(
  entries: Readonly<Record<string, object>>,
  rest: Readonly<Record<string, object>> = {},
): string {
  const rows = Object.entries(entries).map(([name, entry]) => `    "${name}": ${oneLine(entry)}`);
  const others = Object.entries(rest).map(([name, value]) => `,\n  "${name}": ${oneLine(value)}`);
  return `{\n  "mcpServers": {\n${rows.join(',\n')}\n  }${others.join('')}\n}\n`;
}

function oneLine(value: object): string {
  return JSON.stringify(value, undefined, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll('[ ', '[')
    .replaceAll(' ]', ']');
}

const stdio = (...args: readonly string[]) => ({ command: 'node', args });
const remote = (url: string) => ({ type: 'http', url });

/** In the order of the page. */
export const SET_UPS: readonly ExplainSetUp[] = [
  {
    title: 'A local entry shadows two others',
    story: 'I changed `github` in my own settings, and nothing happened.',
    files: {
      [USER]: servers({ github: stdio('/opt/mine.js') }),
      '.mcp.json': servers({ github: stdio('team.js') }),
      [LOCAL]: servers({ github: stdio('here.js') }),
    },
    approved: {
      '.mcp.json': servers({ github: stdio('team.js') }),
      [LOCAL]: servers({ github: stdio('here.js') }),
    },
    args: ['server', 'github', '--no-connect'],
  },
  {
    title: 'The project has an entry that is not approved',
    story: 'The repository I cloned contains its own `github` entry; which one runs?',
    files: {
      [USER]: servers({ github: stdio('/opt/mine.js') }),
      '.mcp.json': servers({ github: stdio('team.js') }),
    },
    args: ['server', 'github', '--no-connect'],
  },
  {
    title: 'An entry changed since it was approved',
    story: 'It worked yesterday; then I pulled.',
    approved: { '.mcp.json': servers({ docs: remote('https://docs.example.com/mcp') }) },
    files: { '.mcp.json': servers({ docs: remote('https://docs.example.net/mcp') }) },
    args: ['server', 'docs'],
  },
  {
    title: 'A variable in a header is not set',
    story: 'The server works in one terminal and is not started in another.',
    files: {
      [USER]: servers({
        github: {
          ...remote('https://api.example.com/mcp'),
          headers: {
            Authorization: reference('Bearer ', 'GITHUB_TOKEN'),
            'X-Team': reference('', 'TEAM:-core'),
          },
        },
      }),
    },
    args: ['server', 'github'],
  },
  {
    title: 'A managed file excludes everything else',
    story: 'My servers are missing on the company’s laptop.',
    files: {
      [MANAGED]: servers({ intranet: remote('https://mcp.example.com/intranet') }),
      [USER]: servers({ github: stdio('/opt/mine.js') }),
    },
    args: ['server', 'github'],
  },
  {
    title: 'A deny list blocks a server by its URL',
    story: 'The entry is correct, but the server is not started.',
    files: {
      [POLICY]: '{\n  "deniedMcpServers": [{ "serverUrl": "https://*.example.net/*" }]\n}\n',
      [USER]: servers({ docs: remote('https://docs.example.net/mcp') }),
    },
    args: ['server', 'docs'],
  },
  {
    title: 'A file is invalid',
    story: 'I added `docs` to `.mcp.json`, but the server does not exist.',
    files: {
      '.mcp.json':
        '{\n  "servers": {\n    "docs": { "type": "http", "url": "https://docs.example.com/mcp" }\n  }\n}\n',
      [LOCAL]: '{\n  "mcpServers": {\n    "notes": { "command": "node" "args": ["notes.js"] }\n  }\n}\n',
    },
    args: ['server', 'docs'],
  },
  {
    title: 'Two names normalize to the same identifier',
    story: 'One of my two trackers is missing.',
    files: { [USER]: servers({ 'issue tracker': stdio('old.js'), issue_tracker: stdio('new.js') }) },
    args: ['server', 'issue tracker'],
  },
  {
    title: 'A connector offers a server that is already configured',
    story: 'The company’s catalog contains `tickets`, but the server is not listed.',
    files: {
      [USER]: servers(
        { jira: remote('https://jira.example.com/mcp') },
        { connectors: [{ url: 'https://catalogue.example.com/mcp.json' }] },
      ),
    },
    catalogues: {
      'https://catalogue.example.com/mcp.json': {
        mcpServers: { tickets: remote('https://jira.example.com/mcp') },
      },
    },
    args: ['server', 'tickets', '--no-connect'],
  },
  {
    title: 'A managed deny rule takes precedence over my allow rule',
    story: 'I allowed the tool, but it is denied.',
    files: {
      [POLICY]: '{\n  "permissions": { "deny": ["mcp__github__delete_repository"] }\n}\n',
      [LOCAL]: '{\n  "permissions": { "allow": ["mcp__github"] }\n}\n',
      [USER]: servers({ github: stdio('/opt/mine.js') }),
    },
    approved: { [LOCAL]: '{\n  "permissions": { "allow": ["mcp__github"] }\n}\n' },
    args: ['permission', 'mcp__github__delete_repository'],
  },
  {
    title: 'A rule of the `claude` CLI denies a command',
    story: 'My settings allow the command, but the agent refuses to run it.',
    files: {
      '.claude/settings.json':
        '{\n  "permissions": { "deny": ["Bash(git push *)"], "allow": ["Bash(git *)"] }\n}\n',
      [USER]: '{\n  "permissions": { "allow": ["Bash(git push *)"] }\n}\n',
    },
    args: ['permission', 'Bash(git push origin)'],
  },
  {
    title: 'Settings change a time limit',
    story: 'Calls end after five seconds, although the entry says a minute.',
    files: {
      '.mcp.json': servers({ reports: { ...stdio('reports.js'), timeout: 60_000 } }),
      [USER]:
        '{\n  "serverSettings": { "reports": { "timeout": 5000 } },\n  "timeouts": { "callMs": 120000 }\n}\n',
    },
    approved: { '.mcp.json': servers({ reports: { ...stdio('reports.js'), timeout: 60_000 } }) },
    args: ['timeout', 'reports'],
  },
];

/** `${NAME}` as written in a file. */
function reference(before: string, name: string): string {
  return `${before}\${${name}}`;
}
