import type { HostErrorCode } from './host-error.ts';

export type NetworkFault = {
  readonly code: HostErrorCode;
  readonly fault: string;
  readonly isTerminal: boolean;
  readonly hasRun: 'no' | 'maybe';
};

const away = (fault: string, hasRun: 'no' | 'maybe'): NetworkFault => ({
  code: 'unreachable',
  fault,
  isTerminal: true,
  hasRun,
});
const cut = (fault: string): NetworkFault => ({ code: 'closed', fault, isTerminal: true, hasRun: 'maybe' });
const certificate = (fault: string): NetworkFault => ({
  code: 'unreachable',
  fault,
  isTerminal: false,
  hasRun: 'no',
});
/** Records that cannot be read come at the handshake as a rule, but at any time after it as well. */
const garbled = (fault: string): NetworkFault => ({ ...certificate(fault), hasRun: 'maybe' });

const UNTRUSTED = certificate('its certificate is signed by nobody known here; add its CA under tls.ca');

/** What the words of the system and of the HTTP library mean, and what to do. */
export const NETWORK_FAULTS: Readonly<Record<string, NetworkFault>> = {
  ECONNREFUSED: away('nobody listens there; start the server or check "url"', 'no'),
  ENOTFOUND: away('its host name is unknown; check "url" and the network', 'no'),
  EAI_AGAIN: away('its host name cannot be looked up now; check the network', 'no'),
  // A connection that was good ends so too, when its packets find no way any more.
  EHOSTUNREACH: away('there is no way to its host; check the network', 'maybe'),
  ENETUNREACH: away('there is no way to its network; check the network', 'maybe'),
  UND_ERR_CONNECT_TIMEOUT: away('its host does not answer; check "url" and the network', 'no'),
  ETIMEDOUT: away('its host stopped answering; check the network', 'maybe'),
  UND_ERR_HEADERS_TIMEOUT: away(
    'it took the request and never answered; see whether the server still runs',
    'maybe',
  ),
  UND_ERR_BODY_TIMEOUT: away('its answer stopped in the middle; see whether the server still runs', 'maybe'),
  ECONNRESET: cut('the connection was reset; see whether the server still runs'),
  ECONNABORTED: cut('the connection was given up; see whether the server still runs'),
  EPIPE: cut('the connection broke while we wrote; see whether the server still runs'),
  UND_ERR_SOCKET: cut('the other side closed the connection; see whether the server still runs'),
  UND_ERR_DESTROYED: cut('the connection is closed'),
  UND_ERR_CLOSED: cut('the connection is closed'),
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: certificate('its certificate has expired; whoever runs it must renew it'),
  CERT_NOT_YET_VALID: certificate('its certificate is not valid yet; check the clock of this machine'),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate(
    'its certificate is for another host; check "url" or set tls.serverName',
  ),
  EPROTO: garbled('it does not speak TLS as we do; check "url" and its port'),
  ERR_SSL_WRONG_VERSION_NUMBER: garbled('it does not speak TLS there; check "url" and its port'),
};
