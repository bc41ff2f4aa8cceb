/** What happens to a credential: commands do not see it, or see a placeholder. */
type CredentialRule = {
  mode: 'deny' | 'mask';
  extract?: string;
  onExtractNoMatch?: 'deny' | 'error' | 'warn';
  decode?: 'jwt';
  maskClaims?: string[];
  injectHosts?: string[];
};
type SigningPolicy = 'deny' | 'passthrough';

/** The credentials that sandboxed commands do not see. */
export type SandboxCredentialsConfig = {
  files?: (CredentialRule & { path: string; maskDuplicates?: boolean })[];
  envVars?: (CredentialRule & { name: string })[];
  allowPlaintextInject?: boolean;
  awsPairs?: { accessKeyIdVar: string; secretAccessKeyVar: string; sessionTokenVar?: string }[];
  sigv4?: { streaming?: SigningPolicy; presigned?: SigningPolicy; sigv4a?: SigningPolicy };
};

/** The paths that sandboxed commands may read and write. */
export type SandboxFilesystemConfig = {
  allowRead?: string[];
  denyRead?: string[];
  allowWrite?: string[];
  denyWrite?: string[];
  allowManagedReadPathsOnly?: boolean;
  disabled?: boolean;
};

/** The hosts and sockets that sandboxed commands may reach. */
export type SandboxNetworkConfig = {
  allowedDomains?: string[];
  deniedDomains?: string[];
  strictAllowlist?: boolean;
  allowManagedDomainsOnly?: boolean;
  allowUnixSockets?: string[];
  allowAllUnixSockets?: boolean;
  allowLocalBinding?: boolean;
  allowMachLookup?: string[];
  httpProxyPort?: number;
  socksProxyPort?: number;
  tlsTerminate?: { caCertPath?: string; caKeyPath?: string };
};

/** Violations that are not reported: paths or operations by command. */
export type SandboxIgnoreViolations = Record<string, string[]>;

/** The sandbox in which the agent runs shell commands. */
export type SandboxSettings = {
  enabled?: boolean;
  failIfUnavailable?: boolean;
  autoAllowBashIfSandboxed?: boolean;
  allowUnsandboxedCommands?: boolean;
  excludedCommands?: string[];
  network?: SandboxNetworkConfig;
  filesystem?: SandboxFilesystemConfig;
  credentials?: SandboxCredentialsConfig;
  ignoreViolations?: SandboxIgnoreViolations;
  enableWeakerNestedSandbox?: boolean;
  enableWeakerNetworkIsolation?: boolean;
  allowNestedUserNamespaces?: boolean;
  allowAppleEvents?: boolean;
  ripgrep?: { command: string; args?: string[] };
  bwrapPath?: string;
  socatPath?: string;
  [more: string]: unknown;
};
