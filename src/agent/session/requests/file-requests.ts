import { decide } from '../../../permissions/decide.ts';
import { absolutePath } from '../../../permissions/path.ts';
import type { Frame } from '../../../protocol/control-frame.ts';
import { SdkError } from '../../../protocol/sdk-error.ts';
import { READ } from '../../builtins/files/read.ts';
import { readReal } from '../../builtins/files/real-file.ts';
import { realInput, ruleLinks } from '../../builtins/files/real-path.ts';
import type { Session } from '../session.ts';

type Served = { readonly signal: AbortSignal };

/** Restores the files that the agent changed since a message of the user, or previews that with `dry_run`. */
export async function rewindFiles(session: Session, body: Frame, { signal }: Served): Promise<Frame> {
  const { checkpoints } = session.context;
  const isDryRun = body.dry_run === true;
  const rewound = await checkpoints?.rewind(String(body.user_message_id), { isDryRun, signal });
  if (!rewound) {
    const error = checkpoints
      ? 'No file checkpoint found for this message.'
      : 'File rewinding is not enabled.';
    if (isDryRun) return { canRewind: false, error };
    throw new SdkError('control-failed', error);
  }
  const { filesChanged, insertions, deletions, skippedLinks, failures } = rewound;
  for (const failure of failures) session.context.note(`cannot rewind the file ${failure}`);
  if (isDryRun) return { canRewind: true, filesChanged, insertions, deletions };
  return { canRewind: true, skippedLinks };
}

/** How many bytes of a file are sent: if the program sets no limit, and at most. */
const DEFAULT_BYTES = 1_000_000;
const MAX_BYTES = 32_000_000;

/** Reads a file of the workspace for the program. */
export async function readFile(session: Session, body: Frame, { signal }: Served): Promise<Frame> {
  const requested = String(body.path ?? '');
  const denied = new SdkError('control-failed', `read denied: ${requested}`);
  const path = await readablePath(session, requested);
  if (path === undefined) throw denied;
  const limit = typeof body.max_bytes === 'number' && body.max_bytes >= 1 ? body.max_bytes : DEFAULT_BYTES;
  const maxBytes = Math.min(Math.floor(limit), MAX_BYTES);
  const file = await readReal(path.real, signal, { maxBytes }).catch(() => undefined);
  if (file?.kind !== 'file') throw denied;
  const isBase64 = body.encoding === 'base64';
  const contents = file.bytes.toString(isBase64 ? 'base64' : 'utf8');
  return {
    contents,
    absPath: path.given,
    ...(file.size > maxBytes && { truncated: true }),
    ...(isBase64 ? { encoding: 'base64' } : { lossy: !Buffer.from(contents).equals(file.bytes) }),
    requested_path: requested,
  };
}

/**
 * The absolute path and the one without links; undefined unless both are in the workspace and no rule denies reading them
 * or requires approval. Allow rules and the permission mode are meant for the model: they do not let a program read more.
 */
async function readablePath(
  { context }: Session,
  requested: string,
): Promise<{ readonly given: string; readonly real: string } | undefined> {
  if (requested === '' || requested.includes('\0')) return undefined;
  const workspace = context.workspace();
  const current = context.rules.current();
  const rules = current.rules.filter(({ effect }) => effect !== 'allow');
  const given = absolutePath(requested, workspace);
  const input = { file_path: given };
  const [resolved, links] = await Promise.all([
    realInput(READ, input, workspace),
    ruleLinks(current.rules, workspace),
  ]);
  if (resolved.kind === 'unresolved') return undefined;
  const isAllowed = [input, resolved.input].every(
    (it) =>
      decide({
        call: { name: 'Read', input: it },
        rules,
        mode: 'default',
        bypassLaunched: false,
        trusted: true,
        annotations: { readOnlyHint: true },
        workspace: { ...workspace, links },
      }).kind === 'allow',
  );
  return isAllowed ? { given, real: String(resolved.input.file_path) } : undefined;
}
