import type { SetUp, SetUpName } from './set-up.ts';
import { SET_UPS } from './set-ups.ts';

type Reasons = Partial<Record<SetUpName, string>>;

const OWN_TOOLS = 'the tools of our SDK half have no way to ask the client';
const IN_PROCESS = 'the server lives and dies with the host';
const NO_HTTP = 'nothing of HTTP is between the two';
const LOCK_FILE = 'what an editor is told is in its lock file';
const NO_PROCESS = 'it is no process of its own';

const sdk = (reason: string): Reasons => ({
  'sdk own': reason,
  'sdk McpServer v1': reason,
  'sdk factory v2': reason,
});
const stdio = (reason: string): Reasons => ({ 'stdio legacy': reason, 'stdio modern': reason });
const ide = (reason: string): Reasons => ({ 'ws-ide': reason, 'sse-ide': reason });

/** The features that transports lack, with the reason. Every transport has all other features. */
export const CANNOT = {
  calls: {},
  lists: {},
  'server asks': { 'sdk own': OWN_TOOLS },
  'comes back': sdk(IN_PROCESS),
  'is cut off': { ...sdk(IN_PROCESS), ...stdio('a pipe ends only with its process') },
  headers: { ...sdk(NO_HTTP), ...stdio(NO_HTTP), ...ide(LOCK_FILE) },
  'needs authorization at the dial': { ...sdk(NO_HTTP), ...stdio(NO_HTTP), ...ide(LOCK_FILE) },
  'needs authorization at a call': {
    ...sdk(NO_HTTP),
    ...stdio(NO_HTTP),
    ...ide(LOCK_FILE),
    'ws legacy': 'a WebSocket that is open is asked for nothing any more',
    'ws modern': 'a WebSocket that is open is asked for nothing any more',
  },
  environment: {
    ...sdk(NO_PROCESS),
    ...ide(NO_PROCESS),
    'http legacy': NO_PROCESS,
    'http modern': NO_PROCESS,
    sse: NO_PROCESS,
    'ws legacy': NO_PROCESS,
    'ws modern': NO_PROCESS,
    'url that speaks http': NO_PROCESS,
    'url that speaks sse': NO_PROCESS,
  },
} satisfies Record<string, Reasons>;

/** The set-ups that support a feature, as rows for `describe.each`. */
export function able(what: keyof typeof CANNOT): SetUp[] {
  return SET_UPS.filter(({ name }) => !(name in CANNOT[what]));
}
