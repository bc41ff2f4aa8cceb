import { CLAUDE_CODE } from './claude-code.ts';
import { CLAUDE_DESKTOP } from './claude-desktop.ts';
import { CODEX } from './codex.ts';
import { CURSOR } from './cursor.ts';
import type { ForeignTool } from './foreign.ts';
import { GEMINI } from './gemini.ts';
import { VSCODE } from './vscode.ts';
import { WINDSURF } from './windsurf.ts';
import { ZED } from './zed.ts';

/** Every program whose files are read; of servers with one name, the earlier row's comes first. */
export const FOREIGN_TOOLS: readonly ForeignTool[] = [
  CLAUDE_CODE,
  CLAUDE_DESKTOP,
  CURSOR,
  VSCODE,
  CODEX,
  GEMINI,
  WINDSURF,
  ZED,
];
