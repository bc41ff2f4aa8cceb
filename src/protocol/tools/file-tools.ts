// Inputs and outputs of the built-in tools that read, write, find and run: the shapes in which programs and hooks see them.

/** Input of `Bash`; times are in milliseconds. */
export type BashInput = {
  command: string;
  timeout?: number;
  description?: string;
  run_in_background?: boolean;
  dangerouslyDisableSandbox?: boolean;
};

export type BashOutput = {
  stdout: string;
  stderr: string;
  interrupted: boolean;
  rawOutputPath?: string;
  isImage?: boolean;
  backgroundTaskId?: string;
  backgroundedByUser?: boolean;
  timedOutAfterMs?: number;
  backgroundCwdHint?: string;
  backgroundEndsWithFinalResponse?: true;
  backgroundWakesOwner?: true;
  dangerouslyDisableSandbox?: boolean;
  /** The meaning of an exit code other than 0 that is not an error, such as 1 of `grep`. */
  returnCodeInterpretation?: string;
  noOutputExpected?: boolean;
  structuredContent?: unknown[];
  /** The file with the whole output, if it was too long for the model. */
  persistedOutputPath?: string;
  persistedOutputSize?: number;
  staleReadFileStateHint?: string;
  ghRateLimitHint?: string;
  gitOperation?: GitOperation;
};

type GitOperation = {
  commit?: { sha: string; kind: 'committed' | 'amended' | 'cherry-picked'; branch?: string };
  push?: { branch: string };
  branch?: { ref: string; action: 'merged' | 'rebased' };
  pr?: { number: number; url?: string; action: PullRequestAction };
};

type PullRequestAction =
  | 'created'
  | 'edited'
  | 'merged'
  | 'commented'
  | 'closed'
  | 'reopened'
  | 'ready'
  | 'draft'
  | 'auto-merge-enabled'
  | 'auto-merge-disabled';

/** Input of `Read`; `pages` is a range of pages of a PDF. */
export type FileReadInput = {
  file_path: string;
  offset?: number;
  limit?: number;
  pages?: string;
  allow_large?: boolean;
};

export type FileReadOutput =
  | { type: 'text'; file: TextFile; artifactRead?: { slug: string; ver: string } }
  | { type: 'image'; file: ImageFile }
  | { type: 'notebook'; file: { filePath: string; cells: unknown[] } }
  | { type: 'pdf'; file: { filePath: string; base64: string; originalSize: number } }
  | {
      type: 'parts';
      file: { filePath: string; originalSize: number; count: number; outputDir: string };
      firstPage?: number;
      pages?: { base64: string; mediaType: ImageType; error?: string }[];
    };

type TextFile = {
  filePath: string;
  content: string;
  numLines: number;
  startLine: number;
  totalLines: number;
  truncatedByTokenCap?: boolean;
};

type ImageFile = {
  base64: string;
  type: ImageType;
  originalSize: number;
  dimensions?: {
    originalWidth?: number;
    originalHeight?: number;
    displayWidth?: number;
    displayHeight?: number;
  };
};

type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** Input of `Edit`. */
export type FileEditInput = {
  file_path: string;
  old_string: string;
  new_string: string;
  replace_all?: boolean;
};

export type FileEditOutput = FileChange & {
  oldString: string;
  newString: string;
  userModified: boolean;
  replaceAll: boolean;
};

/** Input of `Write`. */
export type FileWriteInput = { file_path: string; content: string };

export type FileWriteOutput = FileChange & {
  type: 'create' | 'update';
  content: string;
  userModified?: boolean;
};

type FileChange = {
  filePath: string;
  /** The content before the change; null for a new file. */
  originalFile: string | null;
  structuredPatch: PatchHunk[];
  gitDiff?: GitDiff;
  staged?: boolean;
};

/** A hunk of a unified diff; the lines begin with a space, `+` or `-`. */
type PatchHunk = {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
};

type GitDiff = {
  filename: string;
  status: 'modified' | 'added';
  additions: number;
  deletions: number;
  changes: number;
  patch: string;
  repository?: string | null;
};

export type NotebookEditInput = {
  notebook_path: string;
  cell_id?: string;
  new_source: string;
  cell_type?: CellType;
  edit_mode?: 'replace' | 'insert' | 'delete';
};

export type NotebookEditOutput = {
  new_source: string;
  old_source?: string;
  cell_id?: string;
  cell_type: CellType;
  language: string;
  edit_mode: string;
  error?: string;
  notebook_path: string;
  original_file: string;
  updated_file: string;
};

type CellType = 'code' | 'markdown';

export type GlobInput = { pattern: string; path?: string };

export type GlobOutput = {
  durationMs: number;
  numFiles: number;
  filenames: string[];
  truncated: boolean;
  totalMatches?: number;
  countIsComplete?: boolean;
  timedOut?: boolean;
};

/** Input of `Grep`; members that begin with a dash are flags of ripgrep. */
export type GrepInput = {
  pattern: string;
  path?: string;
  glob?: string;
  output_mode?: GrepMode;
  '-B'?: number;
  '-A'?: number;
  '-C'?: number;
  context?: number;
  '-n'?: boolean;
  '-i'?: boolean;
  '-o'?: boolean;
  type?: string;
  head_limit?: number;
  offset?: number;
  multiline?: boolean;
};

export type GrepOutput = {
  mode?: GrepMode;
  numFiles: number;
  filenames: string[];
  content?: string;
  numLines?: number;
  numMatches?: number;
  totalFiles?: number;
  totalLines?: number;
  appliedLimit?: number;
  appliedOffset?: number;
  timedOut?: boolean;
};

type GrepMode = 'content' | 'files_with_matches' | 'count';
