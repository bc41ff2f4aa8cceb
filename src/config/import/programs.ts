import { join } from 'node:path';
import { isRecord } from '../../base/json-value.ts';
import {
  COMMON,
  type ConvertedMember,
  disabledIf,
  dropped,
  type ImportContext,
  type ImportProgram,
  type ImportScope,
  notImported,
  type RawServer,
  renamedTo,
  seconds,
  unchanged,
} from './convert-entry.ts';
import { bracedText, dollarText, editorText, isVariableName, plainText } from './variables.ts';

const APPROVAL = notImported('to allow tools, add rules to permissions.allow');
const SIGN_IN = notImported('signing in is not imported; set a token in "headers", or "oauth" in the entry');

/** One file for the user's servers and those of each directory. */
const CLAUDE_CODE: ImportProgram = {
  id: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  places: ({ userHome, env }) => [
    { path: join(env.CLAUDE_CONFIG_DIR || userHome, '.claude.json'), from: 'user' },
  ],
  servers: (file, { from }, { project, cwd }) => [
    ...serversAt(file, ['mcpServers'], from),
    ...[...new Set([cwd, project])].flatMap((directory) => ofDirectory(file, directory)),
  ],
  rewrite: bracedText,
  conversions: {
    ...COMMON,
    headersHelper: unchanged,
    timeout: unchanged,
    alwaysLoad: unchanged,
    oauth: SIGN_IN,
  },
};

/** Supports only stdio servers, and no variables. */
const CLAUDE_DESKTOP: ImportProgram = {
  id: 'claude-desktop',
  title: 'Claude Desktop',
  format: 'json',
  places: (context) => [
    { path: join(applicationData(context), 'Claude', 'claude_desktop_config.json'), from: 'user' },
  ],
  servers: (file, { from }) => serversAt(file, ['mcpServers'], from),
  rewrite: plainText,
  conversions: { ...COMMON, extensionId: notImported('the server is provided by an extension') },
};

const CURSOR: ImportProgram = {
  id: 'cursor',
  title: 'Cursor',
  format: 'json',
  places: ({ userHome, project }) => [
    { path: join(userHome, '.cursor', 'mcp.json'), from: 'user' },
    { path: join(project, '.cursor', 'mcp.json'), from: 'project' },
  ],
  servers: (file, { from }) => serversAt(file, ['mcpServers'], from),
  rewrite: editorText,
  conversions: {
    ...COMMON,
    // Detects the transport, as Toolplane does without a type.
    type: (value) => (value === 'streamableHttp' || value === 'http' ? {} : { put: { type: value } }),
    disabled: disabledIf(true),
    envFile: notImported('copy the variables of that file to "env"'),
    auth: SIGN_IN,
    autoApprove: APPROVAL,
  },
};

/** `servers` in `mcp.json`, and in the settings of older versions. */
const VSCODE: ImportProgram = {
  id: 'vscode',
  title: 'VS Code',
  format: 'json',
  places: (context) => {
    const user = join(applicationData(context), 'Code', 'User');
    return [
      { path: join(user, 'mcp.json'), from: 'user' },
      { path: join(user, 'settings.json'), from: 'user' },
      { path: join(context.project, '.vscode', 'mcp.json'), from: 'project' },
      { path: join(context.project, '.vscode', 'settings.json'), from: 'project' },
    ];
  },
  servers: (file, { path, from }) =>
    path.endsWith('settings.json')
      ? [['mcp', 'servers'], ['mcp.servers']].flatMap((way) => serversAt(file, way, from))
      : serversAt(file, ['servers'], from),
  rewrite: editorText,
  conversions: {
    ...COMMON,
    // "http" of VS Code falls back to server-sent events, as Toolplane does without a type.
    type: (value) => (value === 'http' ? {} : { put: { type: value } }),
    gallery: dropped,
    version: dropped,
    envFile: notImported('copy the variables of that file to "env"'),
    dev: notImported(),
  },
};

/** TOML, with separate members for values of variables. */
const CODEX: ImportProgram = {
  id: 'codex',
  title: 'Codex',
  format: 'toml',
  places: ({ userHome, project, env }) => [
    { path: join(env.CODEX_HOME || join(userHome, '.codex'), 'config.toml'), from: 'user' },
    { path: join(project, '.codex', 'config.toml'), from: 'project' },
  ],
  servers: (file, { from }) => serversAt(file, ['mcp_servers'], from),
  rewrite: plainText,
  conversions: {
    ...COMMON,
    url: (url) => ({ put: { type: 'http', url } }),
    bearer_token_env_var: (variable, name) =>
      isVariableName(variable)
        ? { put: { headers: { Authorization: `Bearer \${${variable}}` } } }
        : { fault: `"${name}" must be the name of a variable` },
    http_headers: renamedTo('headers'),
    env_http_headers: fromVariables('headers'),
    env_vars: passedVariables,
    startup_timeout_sec: seconds('connectTimeoutMs'),
    startup_timeout_ms: renamedTo('connectTimeoutMs'),
    tool_timeout_sec: seconds('timeout'),
    enabled: disabledIf(false),
    required: unchanged,
    enabled_tools: renamedTo('includeTools'),
    disabled_tools: renamedTo('excludeTools'),
    default_tools_approval_mode: APPROVAL,
    tools: APPROVAL,
    scopes: SIGN_IN,
    oauth_resource: SIGN_IN,
    bearer_token: notImported('refer to a variable or a secret in "headers" instead'),
  },
};

const GEMINI: ImportProgram = {
  id: 'gemini',
  title: 'Gemini CLI',
  format: 'json',
  places: ({ userHome, project }) => [
    { path: join(userHome, '.gemini', 'settings.json'), from: 'user' },
    { path: join(project, '.gemini', 'settings.json'), from: 'project' },
  ],
  servers: (file, { from }) => {
    const excluded = isRecord(file.mcp) && Array.isArray(file.mcp.excluded) ? file.mcp.excluded : [];
    return serversAt(file, ['mcpServers'], from).map((server) => ({
      ...withTransport(server),
      isOff: excluded.includes(server.name),
    }));
  },
  rewrite: dollarText,
  conversions: {
    ...COMMON,
    timeout: unchanged,
    includeTools: unchanged,
    excludeTools: unchanged,
    description: dropped,
    trust: notImported(
      'in Gemini CLI it skips every confirmation; to trust the server here, set "trust": true',
    ),
    tcp: notImported('this transport is not supported'),
    oauth: SIGN_IN,
    authProviderType: SIGN_IN,
    targetAudience: SIGN_IN,
    targetServiceAccount: SIGN_IN,
  },
};

const WINDSURF: ImportProgram = {
  id: 'windsurf',
  title: 'Windsurf',
  format: 'json',
  places: ({ userHome }) => [
    { path: join(userHome, '.codeium', 'windsurf', 'mcp_config.json'), from: 'user' },
  ],
  servers: (file, { from }) => serversAt(file, ['mcpServers'], from),
  rewrite: editorText,
  conversions: {
    ...COMMON,
    serverUrl: renamedTo('url'),
    disabled: disabledIf(true),
    disabledTools: renamedTo('excludeTools'),
    alwaysAllow: APPROVAL,
  },
};

const ZED: ImportProgram = {
  id: 'zed',
  title: 'Zed',
  format: 'json',
  places: (context) => {
    const { platform, userHome, project } = context;
    const user = platform === 'darwin' ? join(userHome, '.config', 'zed') : applicationData(context);
    const directory = platform === 'darwin' ? user : join(user, platform === 'win32' ? 'Zed' : 'zed');
    return [
      { path: join(directory, 'settings.json'), from: 'user' },
      { path: join(project, '.zed', 'settings.json'), from: 'project' },
    ];
  },
  servers: (file, { from }) => serversAt(file, ['context_servers'], from),
  rewrite: plainText,
  conversions: {
    ...COMMON,
    // In older versions the command is an object.
    command: (value) => {
      if (!isRecord(value)) return { put: { command: value } };
      const { path, args, env } = value;
      return { put: { command: path, ...(args != null && { args }), ...(env != null && { env }) } };
    },
    source: (value) =>
      value === 'extension'
        ? { fault: 'the server is provided and started by an extension of Zed, so it cannot be imported' }
        : {},
    enabled: disabledIf(false),
    settings: notImported('these are settings of an extension'),
    remote: dropped,
  },
};

/** All programs; of servers with one name, the one of the earlier program comes first. */
export const IMPORT_PROGRAMS: readonly ImportProgram[] = [
  CLAUDE_CODE,
  CLAUDE_DESKTOP,
  CURSOR,
  VSCODE,
  CODEX,
  GEMINI,
  WINDSURF,
  ZED,
];

function ofDirectory(file: Readonly<Record<string, unknown>>, directory: string): RawServer[] {
  const project = isRecord(file.projects) ? file.projects[directory] : undefined;
  const off = isRecord(project) ? project.disabledMcpServers : undefined;
  const names: readonly unknown[] = Array.isArray(off) ? off : [];
  return serversAt(file, ['projects', directory, 'mcpServers'], 'project').map((server) => ({
    ...server,
    isOff: names.includes(server.name),
  }));
}

function fromVariables(ours: string): (value: unknown, name: string) => ConvertedMember {
  return (value, name) => {
    if (!isRecord(value) || !Object.values(value).every(isVariableName)) {
      return { fault: `"${name}" must map names to names of variables` };
    }
    return {
      put: {
        [ours]: Object.fromEntries(Object.entries(value).map(([key, variable]) => [key, `\${${variable}}`])),
      },
    };
  };
}

/** Variables that are passed to the server unchanged. */
function passedVariables(value: unknown, name: string): ConvertedMember {
  if (!Array.isArray(value) || !value.every(isVariableName)) {
    return { fault: `"${name}" must be a list of variable names` };
  }
  return { put: { env: Object.fromEntries(value.map((variable) => [variable, `\${${variable}}`])) } };
}

/** `httpUrl` takes precedence over `url`, which alone means server-sent events. */
function withTransport(server: RawServer): RawServer {
  if (!isRecord(server.value)) return server;
  const { httpUrl, url, type, ...rest } = server.value;
  if (httpUrl !== undefined) return { ...server, value: { ...rest, type: 'http', url: httpUrl } };
  if (url === undefined) return { ...server, value: { ...rest, ...(type !== undefined && { type }) } };
  return { ...server, value: { ...rest, type: type ?? 'sse', url } };
}

/** The members of the object at a key path, each a server; any other value becomes one invalid server. */
function serversAt(
  file: Readonly<Record<string, unknown>>,
  way: readonly string[],
  from: ImportScope,
): RawServer[] {
  let at: unknown = file;
  for (const step of way) at = isRecord(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  if (at === undefined || at === null) return [];
  if (!isRecord(at)) return [{ name: way.join('.'), way, value: at, from }];
  return Object.entries(at).map(([name, value]) => ({ name, way: [...way, name], value, from }));
}

/** The directory for data of the user's applications. */
function applicationData({ platform, userHome, env }: ImportContext): string {
  if (platform === 'darwin') return join(userHome, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA || join(userHome, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || join(userHome, '.config');
}
