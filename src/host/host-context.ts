import { join } from 'node:path';
import type { Broadcast } from '../base/async/broadcast.ts';
import type { Channels } from '../channels/channels.ts';
import { configuredTimeouts } from '../config/running-configuration.ts';
import { configuredIdentityProvider, sealedCredentialStore } from '../config/secrets/account-store.ts';
import type { CredentialStore } from '../mcp/auth/auth-types.ts';
import { ServerAuth } from '../mcp/auth/authorizer.ts';
import { credentialStoreOf, memoryCredentialStore } from '../mcp/auth/credential-store.ts';
import type { IdentityProvider } from '../mcp/auth/token-grants.ts';
import { CONNECT_TIMEOUT_MS } from '../mcp/calls/time-limits.ts';
import type { ConnectContext, EraCache } from '../mcp/connection/connect-context.ts';
import { fileEraCache, memoryEraCache } from '../mcp/connection/protocol-era.ts';
import type { ClientFeatures, RequestHandler } from '../mcp/connection/server-requests.ts';
import { fileToolCache } from '../mcp/discovery/tool-cache.ts';
import { PinWatch } from '../pool/pinning/pin-watch.ts';
import { openPins, type Pins, processPins } from '../pool/pinning/pins.ts';
import type { ToolChange } from '../pool/pinning/tool-change.ts';

import type { LogLevel } from '../protocol/mcp.ts';
import type { HostAnswer, HostEvent, HostHandlers, HostOptions } from './host-options.ts';

/** The dependencies of a host on its environment. */
export type HostEnvironment = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly version: string;
  /** Toolplane's directory of the user; undefined if the user has no home. */
  readonly home?: string | undefined;
  readonly platform?: NodeJS.Platform;
  /** The default directory for the remembered protocol version of each server; without it they stay in memory. */
  readonly cacheDirectory?: string | undefined;
};

/** What connections of a host need; server output and logs become events. */
export function hostConnectDeps(
  options: HostOptions,
  environment: HostEnvironment,
  events: Pick<Broadcast<HostEvent>, 'emit'>,
  more: {
    readonly channels: Pick<Channels, 'receive'> | undefined;
    logLevel(): LogLevel | undefined;
  },
): ConnectContext {
  const { env, cwd, version, cacheDirectory: ownCache } = environment;
  const { auth = {}, cacheDirectory, handlers = {}, maxFrameBytes } = options;
  return {
    env: options.env ?? env,
    cwd: options.cwd ?? cwd,
    connectTimeoutMs:
      options.connectTimeoutMs ??
      configuredTimeouts(options.configuration).connectTimeoutMs ??
      CONNECT_TIMEOUT_MS,
    clientInfo: options.clientInfo ?? { name: 'toolplane', version },
    eraCache: eraCacheIn(cacheDirectory ?? ownCache),
    ...(cacheDirectory && { toolCache: fileToolCache(join(cacheDirectory, 'catalogue')) }),
    clientFeatures: (server) => hostRequestHandlers(server, handlers),
    auth: new ServerAuth({
      env: options.env ?? env,
      store: accountStore(options, environment),
      onAuthorize: auth.onAuthorize,
      identityProvider: auth.identityProvider ?? identityProviderOf(options),
      onNotice: (server, message) => events.emit({ type: 'warning', server, message }),
    }),
    onStderr: (server, line) => events.emit({ type: 'stderr', server, line }),
    onUnexpectedOutput: (server, message, subject) =>
      events.emit({ type: 'warning', server, message, ...(subject && { subject }) }),
    onRequestRefused: (server, message) => events.emit({ type: 'warning', server, message }),
    ...(more.channels && { onNotification: (...received) => more.channels?.receive(...received) }),
    logLevel: () => more.logLevel(),
    onLog: (server, entry) => events.emit({ type: 'log', server, entry }),
    ...(maxFrameBytes !== undefined && { maxFrameBytes }),
    ...(options.configuration && { expand: options.configuration.running.expand }),
  };
}

/**
 * The store of the program; else, with a configuration or `auth`, the encrypted file of the user. A host without both uses
 * no files of the user.
 */
function accountStore(
  { auth, configuration }: HostOptions,
  { env, home, platform = process.platform }: HostEnvironment,
): CredentialStore {
  if (auth?.store !== undefined)
    return auth.store === 'memory' ? memoryCredentialStore() : credentialStoreOf(auth.store);
  if (configuration) return sealedCredentialStore(configuration.running.current.context);
  return auth && home !== undefined
    ? sealedCredentialStore({ home, env, platform })
    : memoryCredentialStore();
}

function identityProviderOf({ configuration }: HostOptions): IdentityProvider | undefined {
  const { settings, context } = configuration?.running.current ?? {};
  return settings && context && configuredIdentityProvider(settings, context);
}

function eraCacheIn(directory: string | false | undefined): EraCache {
  return directory ? fileEraCache(join(directory, 'eras.json')) : memoryEraCache();
}

/** The handlers of servers' requests. A capability without a handler is not declared. */
export function hostRequestHandlers(
  server: string,
  { elicitation, sampling, roots }: HostHandlers,
): ClientFeatures {
  const answering =
    (answer: HostAnswer): RequestHandler =>
    async (params, signal) =>
      answer(params, { server, signal });
  return {
    capabilities: {
      ...(elicitation && { elicitation: { form: { applyDefaults: true }, url: {} } }),
      ...(sampling && { sampling: {} }),
      ...(roots && { roots: {} }),
    },
    handlers: {
      ...(elicitation && { 'elicitation/create': answering(elicitation) }),
      ...(sampling && { 'sampling/createMessage': answering(sampling) }),
      ...(roots && {
        'roots/list': async () => ({ roots: [...(typeof roots === 'function' ? await roots() : roots)] }),
      }),
    },
  };
}

/** How many new tools of one list produce an event; `changes()` has all. */
const MAX_CHANGE_EVENTS = 20;

/** The accepted definitions of tools, and the watch that compares them with the listed ones. */
export function hostPins(
  { pinsDirectory }: HostOptions,
  cwd: string | undefined,
  events: Pick<Broadcast<HostEvent>, 'emit'>,
): { readonly pins: Pins; readonly watch: PinWatch } {
  const warn = (message: string, server: string) => events.emit({ type: 'warning', server, message });
  const pins = pinsDirectory === undefined ? processPins() : openPins(pinsDirectory, { note: warn });
  const emitChange = ({ server, tool, text }: ToolChange) =>
    events.emit({ type: 'changed', server, tool, text });
  const watch = new PinWatch(pins, cwd, {
    changed: emitChange,
    added: (_, changes) => changes.slice(0, MAX_CHANGE_EVENTS).forEach(emitChange),
    remark: (server, message) => events.emit({ type: 'warning', server, message }),
  });
  return { pins, watch };
}
