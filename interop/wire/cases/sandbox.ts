import type { Options, WireCase } from '../case.ts';

type Sandbox = NonNullable<Options['sandbox']>;
type Settings = Exclude<NonNullable<Options['settings']>, string>;

/** Inline settings with a sandbox of their own, and the `sandbox` option that is merged into it. */
const ROWS: Readonly<Record<string, readonly [settings: Sandbox, option: Sandbox]>> = {
  'option wins': [{ enabled: false, autoAllowBashIfSandboxed: true }, { enabled: true }],
  'failIfUnavailable from settings': [{ failIfUnavailable: false }, { enabled: true }],
  'lists are joined': [
    {
      filesystem: { denyRead: ['/a', '/b'], denyWrite: ['/w'], allowWrite: ['/x'] },
      network: { deniedDomains: ['a.example'] },
    },
    {
      filesystem: { denyRead: ['/b', '/c'], denyWrite: ['/v'], allowWrite: ['/y'] },
      network: { deniedDomains: ['b.example'] },
    },
  ],
  'filesystem.disabled is dropped': [
    { filesystem: { disabled: true, denyRead: ['/a'] } },
    { filesystem: { allowWrite: ['/x'] } },
  ],
  'proxy ports are dropped': [
    { network: { httpProxyPort: 1, socksProxyPort: 2 } },
    { network: { allowedDomains: ['a.example'], socksProxyPort: 3 } },
  ],
  'proxy ports stay': [{ network: { httpProxyPort: 1 } }, { network: { allowLocalBinding: true } }],
  'ripgrep is replaced whole': [
    { ripgrep: { command: 'rg', args: ['-x'] } },
    { ripgrep: { command: 'other' } },
  ],
  'credentials: deny beats mask': [
    { credentials: { files: [{ path: '/a', mode: 'mask' }], envVars: [{ name: 'A', mode: 'deny' }] } },
    { credentials: { files: [{ path: '/a', mode: 'deny' }], envVars: [{ name: 'A', mode: 'mask' }] } },
  ],
  'credentials.files deny drops filesystem.disabled': [
    { filesystem: { disabled: true } },
    { credentials: { files: [{ path: '/a', mode: 'deny' }] } },
  ],
  'undefined members': [{ enabled: true }, { enabled: undefined, network: undefined }] as never,
};

export const SANDBOX_CASES: readonly WireCase[] = Object.entries(ROWS).map(([name, [settings, sandbox]]) => ({
  name: `sandbox: ${name}`,
  options: (): Options => ({ settings: { model: 'm', sandbox: settings } as Settings, sandbox }),
}));
