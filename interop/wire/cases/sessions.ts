import type { Options, WireCase } from '../case.ts';

const SESSION = '00000000-0000-4000-8000-0000000000aa';
type Store = NonNullable<Options['sessionStore']>;

const ENTRY = { type: 'user', uuid: SESSION, message: { role: 'user', content: 'before' } };
const empty: Store = { append: async () => {}, load: async () => null };
const full: Store = { append: async () => {}, load: async () => [ENTRY], listSubkeys: async () => [] };
const broken: Store = {
  append: async () => {},
  load: async () => {
    throw new Error('store exploded');
  },
};

const ROWS: Readonly<Record<string, Options>> = {
  sessionStore: { sessionStore: empty },
  'sessionStore eager': { sessionStore: empty, sessionStoreFlush: 'eager' },
  'sessionStore with what stands around it': {
    sessionStore: empty,
    includePartialMessages: true,
    includeHookEvents: true,
    projectConfigRoot: '/elsewhere/checkout',
    additionalDirectories: ['/one'],
  },
  'sessionStore not persisted': { sessionStore: empty, persistSession: false },
  'sessionStore and checkpointing': { sessionStore: empty, enableFileCheckpointing: true },
  'sessionStore resume unknown': { sessionStore: empty, resume: SESSION },
  'sessionStore resume': { sessionStore: full, resume: SESSION },
  'sessionStore resume broken': { sessionStore: broken, resume: SESSION },
  'sessionStore continue': { sessionStore: empty, continue: true },
  'loadTimeoutMs alone': { loadTimeoutMs: 5 },
  'sessionStoreFlush alone': { sessionStoreFlush: 'eager' },
};

/** Stores, warm starts and aborts. */
export const SESSION_CASES: readonly WireCase[] = [
  ...Object.entries(ROWS).map(([name, options]) => ({ name: `session: ${name}`, options: () => options })),
  { name: 'session: startup', start: 'startup' },
  { name: 'session: startup with a title', start: 'startup', options: () => ({ title: 'T', model: 'm' }) },
  {
    name: 'session: startup, initialize refused',
    start: 'startup',
    scenario: { replies: { initialize: { error: 'not today' } } },
  },
  { name: 'session: aborted before', options: () => ({ abortController: aborted() }) },
  { name: 'session: aborted after the result', ...abortsLater() },
];

function aborted(): AbortController {
  const controller = new AbortController();
  controller.abort();
  return controller;
}

function abortsLater(): Pick<WireCase, 'options' | 'act'> {
  let controller = new AbortController();
  return {
    options: () => {
      controller = new AbortController();
      return { abortController: controller };
    },
    act: async () => controller.abort(),
  };
}
