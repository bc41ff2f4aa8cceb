import type { BuiltIn } from '../../../agent/builtins/built-in.ts';
import { realInput } from '../../../agent/builtins/files/real-path.ts';
import { absolutePath, isInWorkspace, isProtectedPath, type Workspace } from '../../../permissions/path.ts';

type Input = Readonly<Record<string, unknown>>;

/** An input that stays in the directory, its path free of links; or why the call is refused. */
export async function keptIn(
  builtIn: BuiltIn,
  input: Input,
  workspace: Workspace,
): Promise<{ readonly input: Input } | { readonly fault: string }> {
  const real = await realInput(builtIn, input, workspace);
  if (real.kind === 'unresolved') return { fault: real.fault };
  const path = builtIn.pathMember === undefined ? undefined : real.input[builtIn.pathMember];
  if (typeof path !== 'string') return { input: real.input };
  const given = String(input[builtIn.pathMember ?? '']);
  if (!isInWorkspace(path, workspace)) {
    // Where a link leads is not told either.
    return { fault: `${given} is outside ${workspace.cwd}, and only what lies in there is served` };
  }
  // Nobody can be asked here, and who writes there decides what runs later.
  const isReading = builtIn.listed.annotations?.readOnlyHint === true;
  const isProtected = [path, absolutePath(given, workspace)].some((it) =>
    isProtectedPath(it.startsWith(workspace.cwd) ? it.slice(workspace.cwd.length) : it, workspace),
  );
  if (!isReading && isProtected) {
    return { fault: `${path} decides what runs later: it is not changed from here` };
  }
  return { input: real.input };
}
