import type { Editor } from './lock-file.ts';

/** What decides between editors. */
export type EditorWish = {
  transport: Editor['transport'];
  cwd: string;
  /** The port an editor gave to the terminal we were started in. */
  port?: number | undefined;
  ideName?: string | undefined;
};

/**
 * The editor that has the working directory open: the one of the terminal we run in before all others, then the one
 * whose folder is nearest.
 */
export function chooseEditor(editors: readonly Editor[], wish: EditorWish): Editor | undefined {
  const fitting = editors
    .filter(({ transport, ideName }) => transport === wish.transport && (wish.ideName ?? ideName) === ideName)
    .map((editor) => ({ editor, depth: depthOf(editor.workspaceFolders, wish.cwd) }))
    .filter(({ depth }) => depth > 0);
  const own = fitting.find(({ editor }) => editor.port === wish.port);
  const nearest = fitting.toSorted((a, b) => b.depth - a.depth || b.editor.port - a.editor.port)[0];
  return (own ?? nearest)?.editor;
}

/** How long the longest of these folders is that holds the path; 0 if none does. */
function depthOf(folders: readonly string[], path: string): number {
  return Math.max(
    0,
    ...folders.filter((folder) => holds(folder, path)).map((folder) => partsOf(folder).parts.length + 1),
  );
}

function holds(folder: string, path: string): boolean {
  const outer = partsOf(folder);
  const inner = partsOf(path);
  return outer.root === inner.root && outer.parts.every((part, at) => part === inner.parts[at]);
}

/** A path cut into its names. Those of Windows are the same in either case and with either slash. */
function partsOf(path: string): { root: string; parts: string[] } {
  const windows = /^([a-z]:|[\\/]{2}[^\\/]+)(?=[\\/]|$)/i.exec(path)?.[0];
  const plain = windows === undefined ? path : path.slice(windows.length).toLowerCase().replaceAll('\\', '/');
  const parts: string[] = [];
  for (const part of plain.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return { root: windows?.toLowerCase().replaceAll('\\', '/') ?? '/', parts };
}
