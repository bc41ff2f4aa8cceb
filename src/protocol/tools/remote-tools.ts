// Inputs and outputs of the built-in tools that use the web, MCP servers, artifacts and projects.

export type WebFetchInput = { url: string; prompt: string; offset?: number };

export type WebFetchOutput = {
  bytes: number;
  code: number;
  codeText: string;
  result: string;
  durationMs: number;
  url: string;
  artifactRead?: ArtifactRead;
};

type ArtifactRead = { slug: string; ver?: string; seeded?: false };

export type WebSearchInput = { query: string; allowed_domains?: string[]; blocked_domains?: string[] };

export type WebSearchOutput = {
  query: string;
  /** Searches with their hits, and text of the model between them. */
  results: ({ tool_use_id: string; content: { title: string; url: string; snippet?: string }[] } | string)[];
  durationSeconds: number;
  searchCount?: number;
};

/** Input of any tool of an MCP server. */
export type McpInput = { [key: string]: unknown };

export type McpOutput = string | { type: string; [key: string]: unknown }[] | { [key: string]: unknown };

export type ListMcpResourcesInput = { server?: string };

export type ListMcpResourcesOutput = {
  uri: string;
  name: string;
  mimeType?: string;
  description?: string;
  server: string;
}[];

export type ReadMcpResourceInput = { server: string; uri: string };

export type ReadMcpResourceOutput = {
  contents: { uri: string; mimeType?: string; text?: string; blobSavedTo?: string }[];
  error?: string;
};

export type ReadMcpResourceDirInput = { server: string; uri: string };

export type ReadMcpResourceDirOutput = {
  resources: { uri: string; name: string; mimeType?: string }[];
  error?: string;
};

export type RefreshMcpToolsInput = { server?: string };

export type RefreshMcpToolsOutput = {
  server: string;
  status: 'refreshed' | 'error' | 'not_connected';
  toolCount?: number;
  added?: string[];
  removed?: string[];
  error?: string;
}[];

export type ClaudeDesignInput = { operation: string; arguments: { [key: string]: unknown } };

export type ClaudeDesignOutput = {
  operation: string;
  content: { [key: string]: unknown }[];
  isError?: boolean;
};

export type ProjectsInput = {
  method: ProjectsOutput['method'];
  path?: string;
  content?: string;
  local_path?: string;
  present_to_user?: boolean;
  query?: string;
  n?: number;
};

/** A member that is null is not known to the service. */
export type ProjectsOutput = { notice?: string } & (
  | {
      method: 'project_info';
      local_file?: string;
      name: string;
      description: string;
      instructions: string;
      docs: { path: string; created_at: string | null }[];
      files?: { path: string; file_kind: string; created_at: string | null }[];
      sync_sources?: { type: string | null; config: { [key: string]: unknown } }[];
      knowledge: { knowledge_size: number; max_knowledge_size: number };
    }
  | {
      method: 'project_read';
      path: string;
      file_kind?: string;
      content?: string;
      local_file?: string;
      created_at: string | null;
    }
  | {
      method: 'project_search';
      rag: boolean;
      hits?: { name?: string; doc_uuid?: string; text?: string; image_attached?: boolean; page?: number }[];
      docs?: string[];
    }
  | {
      method: 'project_write';
      path: string;
      doc_uuid: string;
      replaced: boolean;
      present_to_user?: boolean;
      local_path?: string;
    }
  | { method: 'project_delete'; path: string; deleted: boolean }
  | { method: 'project_memory_list'; files: (MemoryFile & { path: string })[]; truncated: boolean }
  | (MemoryFile & {
      method: 'project_memory_read';
      path: string;
      content?: string;
      local_file?: string;
    })
);

type MemoryFile = { size_bytes: number; updated_at: string | null; truncated: boolean };

export type ArtifactInput = {
  action?:
    | 'publish'
    | 'list'
    | 'read'
    | 'list_types'
    | 'watch'
    | 'unwatch'
    | 'status'
    | 'upload_asset'
    | 'list_assets'
    | 'read_asset'
    | 'delete_asset'
    | 'pin'
    | 'unpin';
  file_path?: string;
  favicon?: string;
  icon?: string;
  limit?: number;
  page_token?: string;
  scope?: 'mine' | 'shared' | 'all';
  title?: string;
  description?: string;
  label?: string;
  url?: string;
  prompt?: string;
  force?: boolean;
  pin?: boolean;
  out_dir?: string;
  file_paths?: [string, ...string[]];
  asset_id?: string;
  after?: string;
  capabilities?: { [key: string]: unknown };
  /** The name of a contract, or `latest`. */
  contract?: string;
};

/** One shape per action of `ArtifactInput`. */
export type ArtifactOutput =
  | PublishedArtifact
  | ListedArtifacts
  | {
      read: {
        url: string;
        bytes: number;
        code: number;
        codeText: string;
        result: string;
        durationMs: number;
        title?: string;
      };
      owned?: boolean;
      artifactRead?: ArtifactRead;
    }
  | { watch: StartedWatch }
  | { unwatch: { url: string; was_watching: boolean } }
  | { watches: ArtifactWatch[]; filter_url?: string; arms?: WatchAttempt[] }
  | (ArtifactWrite & { asset_upload: Asset })
  | (ArtifactWrite & { asset_uploads: { url: string; results: [AssetUpload, ...AssetUpload[]] } })
  | { asset_list: ListedAssets }
  | {
      asset_read: {
        id: string;
        path: string;
        size_bytes: number;
        content_type: string;
        sha256: string;
        cowritten?: true;
        outside_writer?: true;
        public_read?: true;
        foreign?: true;
      };
    }
  | (ArtifactWrite & { asset_delete: { id: string; deleted: boolean } })
  | { pin: { action: 'pin' | 'unpin'; url: string; pinned: boolean; title?: string } };

type ArtifactWrite = { written?: { url: string }; owned?: boolean };

type PublishedArtifact = {
  url: string;
  path: string;
  artifact_id?: string;
  title?: string;
  version?: string;
  capabilities?: unknown;
  stored?: {
    contract: string;
    preferredContract?: string;
    capabilities?: { [key: string]: unknown };
    carried?: boolean;
    read?: string;
  };
  warnings?: string[];
  publishesRemaining?: number;
  publishesResetAt?: number;
  contract?: string;
  updated?: boolean;
  owned?: boolean;
  icon?: string;
  faviconSent?: true;
  iconDropped?: true;
  audience?: string;
  seq?: number;
  unchanged?: true;
  liveSubscription?: string;
  pinned?: boolean;
};

type ListedArtifacts = {
  artifacts: {
    title: string;
    url: string;
    favicon?: string;
    updatedAt?: string;
    rel?: 'mine' | 'shared';
    external?: true;
    role?: 'editor' | 'commenter' | 'reader' | 'viewer';
    outsidersMayHaveWritten?: true;
    pinned?: boolean;
  }[];
  truncated?: boolean;
  total?: number;
  total_at_least?: true;
  next_page_token?: string;
  pins_enabled?: boolean;
  scope?: 'shared' | 'all';
  external_listed?: true;
};

type StartedWatch = {
  url: string;
  watching: boolean;
  outcome: string;
  reason?: string;
  durable_skip_reason?: string;
  task_id?: string;
  since?: number;
  token_expires_at?: number;
  rail?: string;
  trigger_id?: string;
  durable_since?: string;
  status?: number;
  detail?: string;
  note?: string;
  events?: string[];
};

type ArtifactWatch =
  | {
      url: string;
      task_id: string;
      since: number;
      explicit: boolean;
      connected: boolean;
      connecting?: boolean;
      token_expires_at: number;
      armed_via?: string;
    }
  | {
      url: string;
      rail: 'durable_wake';
      trigger_id: string;
      since: string;
      events?: string[];
      restored?: boolean;
    }
  | {
      url: string;
      rail: 'live_stopped';
      since?: number;
      explicit?: boolean;
      armed_via?: string;
      stop_kind: string;
    };

type WatchAttempt = {
  url: string;
  rail?: string;
  state: string;
  reconnect?: boolean;
  failures?: number;
  max_failures?: number;
  next_in_s?: number;
  last_failure?: string;
  reason?: string;
  detail?: string;
  server_message?: string;
  at?: number;
};

type Asset = {
  id: string;
  url: string;
  size_bytes: number;
  content_type: string;
  sha256?: string;
  file_name: string;
};

type AssetUpload =
  | (Asset & { file_path: string; status: 'uploaded' })
  | {
      file_path: string;
      status: 'failed' | 'not_attempted';
      reason: string;
      message: string;
      may_be_stored?: true;
    };

type ListedAssets = {
  url: string;
  assets: (Omit<Asset, 'file_name'> & { created_at: string })[];
  usage: { files: number; bytes: number; max_files: number; max_bytes: number };
  next?: string;
  cowritten?: true;
  outside_writer?: true;
};
