import {
  holdsShape,
  isCatalogue,
  isChoices,
  isConnector,
  isEras,
  isInventory,
  isLock,
  isPins,
  isSecrets,
  isSettings,
  isTranscript,
} from './own-content.ts';

/** What of a directory is ours: by its name and, since others use such names too, by what it holds. */
export type Shelf = {
  readonly files?: readonly { readonly name: RegExp; holds(path: string): boolean }[];
  readonly folders?: readonly {
    readonly name: RegExp;
    isOurs?(path: string): boolean;
    readonly shelf: Shelf;
  }[];
};

/** One kind of what Toolplane keeps for a person; `isConfigured` if they put it there, and not Toolplane in passing. */
export type Kind = { readonly kind: string; readonly isConfigured: boolean; readonly shelf: Shelf };

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const SHORT = '[0-9a-f]{32}';
const LONG = '[0-9a-f]{64}';

/** In the order people care about. */
export const KINDS: readonly Kind[] = [
  { kind: 'settings', isConfigured: true, shelf: { files: kept('settings\\.json', isSettings) } },
  { kind: 'secrets', isConfigured: true, shelf: { files: kept('secrets\\.json', isSecrets) } },
  { kind: 'choices', isConfigured: true, shelf: { files: kept('choices\\.json', isChoices) } },
  { kind: 'conversations', isConfigured: false, shelf: folder('projects', { folders: [conversations()] }) },
  {
    kind: 'pins',
    isConfigured: false,
    shelf: folder('pins', {
      files: [
        ...kept(`${SHORT}\\.json`, isPins),
        { name: new RegExp(`^${SHORT}\\.json\\.broken$`), holds: () => true },
      ],
    }),
  },
  {
    kind: 'cache',
    isConfigured: false,
    shelf: folder('cache', {
      files: kept('eras\\.json', isEras),
      folders: [
        { name: /^catalogue$/, shelf: { files: kept(`${LONG}\\.json`, isCatalogue) } },
        { name: /^connectors$/, shelf: { files: kept(`${LONG}\\.json`, isConnector) } },
      ],
    }),
  },
  {
    kind: 'servers',
    isConfigured: false,
    // What servers left in their directories is theirs.
    shelf: folder('servers', { folders: [{ name: /^[a-z0-9_][a-z0-9_-]*$/, shelf: {} }] }),
  },
  {
    kind: 'locks',
    isConfigured: false,
    shelf: folder('locks', {
      files: [{ name: new RegExp(`^${SHORT}\\.lock(?:\\.${UUID})?$`), holds: isLock }],
    }),
  },
  { kind: 'inventory', isConfigured: true, shelf: { files: kept('written\\.json', isInventory) } },
];

/** A file, its lock, and what a write that was cut short left beside it, which may hold any part of it. */
function kept(
  name: string,
  isShape: (value: Readonly<Record<string, unknown>>) => boolean,
): NonNullable<Shelf['files']> {
  return [
    { name: new RegExp(`^${name}$`), holds: holdsShape(isShape) },
    { name: new RegExp(`^${name}\\.lock(?:\\.${UUID})?$`), holds: isLock },
    { name: new RegExp(`^\\.?${name}\\.${UUID}$`), holds: () => true },
  ];
}

function folder(name: string, shelf: Shelf): Shelf {
  return { folders: [{ name: new RegExp(`^${name}$`), shelf }] };
}

/** A folder of a project: a transcript for each session and, in a folder of the same name, results of its tools. */
function conversations(): NonNullable<Shelf['folders']>[number] {
  const results = { files: [{ name: new RegExp(`^(?:${SHORT}\\.\\w+|\\.${UUID})$`), holds: () => true }] };
  return {
    name: /^(?:.+-)?[0-9a-f]{12}$/,
    shelf: {
      files: [{ name: new RegExp(`^${UUID}\\.jsonl$`), holds: isTranscript }],
      folders: [
        {
          name: new RegExp(`^${UUID}$`),
          isOurs: (path) => isTranscript(`${path}.jsonl`),
          shelf: { folders: [{ name: /^tool-results$/, shelf: results }] },
        },
      ],
    },
  };
}
