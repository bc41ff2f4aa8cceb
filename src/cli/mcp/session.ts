import type { ConfigWorld } from '../../config/config-context.ts';
import type { Piece } from '../chat/piece.ts';
import { render } from '../chat/render.ts';
import { cliWorld } from '../host/config-world.ts';
import { errorDocument, sayFailure } from '../host/failure.ts';
import { jsonText } from '../host/lines.ts';
import { NotUnderstood } from '../host/not-understood.ts';
import { processOutput } from '../host/output.ts';
import type { McpFormat } from './sub-command.ts';

/** Where a sub-command works and prints. */
export type Session = {
  readonly world: ConfigWorld;
  readonly env: NodeJS.ProcessEnv;
  readonly format: McpFormat;
  /** The answer: a document for programs, lines for people. */
  answer(answer: { readonly document: object; readonly pieces: readonly Piece[] }): Promise<void>;
  /** One line on stderr. */
  tell(line: string): void;
};

/** Does the work of a sub-command; gives its exit code. A failure is one line, and a document where one is wanted. */
export async function inSession(
  format: McpFormat,
  env: NodeJS.ProcessEnv,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const output = processOutput(env, () => {});
  let hasAnswered = false;
  const answer: Session['answer'] = async ({ document, pieces }) => {
    hasAnswered = true;
    if (format === 'json') await output.print(jsonText(document));
    else await printPieces(pieces, env);
  };
  try {
    return await work({ world: cliWorld(env), env, format, answer, tell: output.tell });
  } catch (cause) {
    for (const line of sayFailure(cause)) output.tell(line);
    if (format === 'json' && !hasAnswered) await output.print(jsonText(errorDocument(cause)));
    return cause instanceof NotUnderstood ? 2 : 1;
  }
}

/** Lines on stdout; colours only where a terminal shows them and nobody is against it. */
async function printPieces(pieces: readonly Piece[], env: NodeJS.ProcessEnv): Promise<void> {
  const { stdout } = process;
  const colours = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const look = { columns: stdout.columns || 80, colours };
  const text = pieces.map((piece) => `${render(piece, look)}\n`).join('');
  await new Promise<void>((resolve) => stdout.write(text, () => resolve()));
}
