/** One configuration that puzzles people, and the question they would ask. */
export type ExplainSetUp = {
  readonly title: string;
  /** What happened, in the words of who asks. */
  readonly story: string;
  /** `~` is the person's home, `/etc/toolplane` what those who run the machine say, all else lies in the project. */
  readonly files: Readonly<Record<string, string>>;
  /** What the project's files were when somebody approved all of them. */
  readonly approved?: Readonly<Record<string, string>>;
  /** What a connector said last, by its URL. */
  readonly catalogues?: Readonly<Record<string, object>>;
  /** After `toolplane explain`. */
  readonly args: readonly string[];
};

const USER = '~/.toolplane/settings.json';
const LOCAL = '.toolplane/settings.local.json';
const MANAGED = '/etc/toolplane/managed-mcp.json';
const POLICY = '/etc/toolplane/managed-settings.json';

/** A file with these servers, an entry a line. */
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

/** The page shows them in this order. */
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
    title: 'The project has an entry that nobody approved',
    story: 'The repository I cloned brings a `github` of its own; which one runs?',
    files: {
      [USER]: servers({ github: stdio('/opt/mine.js') }),
      '.mcp.json': servers({ github: stdio('team.js') }),
    },
    args: ['server', 'github', '--no-connect'],
  },
  {
    title: 'It changed since it was approved',
    story: 'It worked yesterday; then I pulled.',
    approved: { '.mcp.json': servers({ docs: remote('https://docs.example.com/mcp') }) },
    files: { '.mcp.json': servers({ docs: remote('https://docs.example.net/mcp') }) },
    args: ['server', 'docs'],
  },
  {
    title: 'A variable in a header is not set',
    story: 'It answers 401 in one terminal and works in another.',
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
    story: 'My servers are gone on the company’s laptop.',
    files: {
      [MANAGED]: servers({ intranet: remote('https://mcp.example.com/intranet') }),
      [USER]: servers({ github: stdio('/opt/mine.js') }),
    },
    args: ['server', 'github'],
  },
  {
    title: 'A deny list blocks it by its address',
    story: 'The entry is right, and it is not started.',
    files: {
      [POLICY]: '{\n  "deniedMcpServers": [{ "serverUrl": "https://*.example.net/*" }]\n}\n',
      [USER]: servers({ docs: remote('https://docs.example.net/mcp') }),
    },
    args: ['server', 'docs'],
  },
  {
    title: 'A file that cannot be read hides it',
    story: 'I added `docs` to `.mcp.json`, and there is no such server.',
    files: {
      '.mcp.json':
        '{\n  "servers": {\n    "docs": { "type": "http", "url": "https://docs.example.com/mcp" }\n  }\n}\n',
      [LOCAL]: '{\n  "mcpServers": {\n    "notes": { "command": "node" "args": ["notes.js"] }\n  }\n}\n',
    },
    args: ['server', 'docs'],
  },
  {
    title: 'Two names that are the same for a model',
    story: 'One of my two trackers never shows up.',
    files: { [USER]: servers({ 'issue tracker': stdio('old.js'), issue_tracker: stdio('new.js') }) },
    args: ['server', 'issue tracker'],
  },
  {
    title: 'A connector offers what is there already',
    story: 'The company’s catalogue lists `tickets`, and it is not in the list.',
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
    title: 'A deny rule of the machine beats an allow rule of mine',
    story: 'I allowed it, and it is denied all the same.',
    files: {
      [POLICY]: '{\n  "permissions": { "deny": ["mcp__github__delete_repository"] }\n}\n',
      [LOCAL]: '{\n  "permissions": { "allow": ["mcp__github"] }\n}\n',
      [USER]: servers({ github: stdio('/opt/mine.js') }),
    },
    approved: { [LOCAL]: '{\n  "permissions": { "allow": ["mcp__github"] }\n}\n' },
    args: ['permission', 'mcp__github__delete_repository'],
  },
  {
    title: 'A time-out that settings set',
    story: 'Calls end after five seconds, though the entry says a minute.',
    files: {
      '.mcp.json': servers({ reports: { ...stdio('reports.js'), timeout: 60_000 } }),
      [USER]:
        '{\n  "serverSettings": { "reports": { "timeout": 5000 } },\n  "timeouts": { "callMs": 120000 }\n}\n',
    },
    approved: { '.mcp.json': servers({ reports: { ...stdio('reports.js'), timeout: 60_000 } }) },
    args: ['timeout', 'reports'],
  },
];

/** `${NAME}` as people write it. */
function reference(before: string, name: string): string {
  return `${before}\${${name}}`;
}
