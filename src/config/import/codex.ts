import { join } from 'node:path';
import { isRecord } from '../../base/is-record.ts';
import type { ForeignTool, Turned } from './foreign.ts';
import { serversAt } from './servers-at.ts';
import { as, COMMON, offIf, same, seconds, told } from './turns.ts';
import { isVariableName, plainText } from './variables.ts';

const APPROVAL = told('allow tools by rules: permissions.allow of the settings');

/** TOML; what comes from variables is named by members of their own. */
export const CODEX: ForeignTool = {
  id: 'codex',
  title: 'Codex',
  format: 'toml',
  places: ({ userHome, project, env }) => [
    { path: join(env.CODEX_HOME || join(userHome, '.codex'), 'config.toml'), from: 'user' },
    { path: join(project, '.codex', 'config.toml'), from: 'project' },
  ],
  servers: (file, { from }) => serversAt(file, ['mcp_servers'], from),
  rewrite: plainText,
  turns: {
    ...COMMON,
    url: (url) => ({ put: { type: 'http', url } }),
    bearer_token_env_var: (variable, name) =>
      isVariableName(variable)
        ? { put: { headers: { Authorization: `Bearer \${${variable}}` } } }
        : { fault: `"${name}" must be the name of a variable` },
    http_headers: as('headers'),
    env_http_headers: fromVariables('headers'),
    env_vars: passedOn,
    startup_timeout_sec: seconds('connectTimeoutMs'),
    startup_timeout_ms: as('connectTimeoutMs'),
    tool_timeout_sec: seconds('timeout'),
    enabled: offIf(false),
    required: same,
    enabled_tools: as('includeTools'),
    disabled_tools: as('excludeTools'),
    default_tools_approval_mode: APPROVAL,
    tools: APPROVAL,
    scopes: told('sign in here once that is possible'),
    oauth_resource: told('sign in here once that is possible'),
    bearer_token: told('name a variable or a secret in "headers"'),
  },
};

function fromVariables(ours: string): (value: unknown, name: string) => Turned {
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

/** Variables a server is given as they are. */
function passedOn(value: unknown, name: string): Turned {
  if (!Array.isArray(value) || !value.every(isVariableName)) {
    return { fault: `"${name}" must be a list of names of variables` };
  }
  return { put: { env: Object.fromEntries(value.map((variable) => [variable, `\${${variable}}`])) } };
}
