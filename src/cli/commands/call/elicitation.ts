import type { HostAnswer } from '../../../host/host-options.ts';
import type { ElicitationRequest } from '../../../sdk/options/options.ts';
import { elicitationAsker } from '../../chat/elicitation.ts';
import { Questions } from '../../chat/questions.ts';
import type { Connected } from '../../host/with-host.ts';
import { readLine } from '../../terminal/read-line.ts';
import { line, type Piece, render } from '../../terminal/render.ts';

const COMMANDS =
  '/decline declines the request, /mute all requests of the server, Ctrl-C ends the command. To enter an answer that starts with /, type // instead.';

type Streams = Pick<NodeJS.Process, 'stdin' | 'stderr'>;

/**
 * Answers elicitation requests during `toolplane call`. With a terminal on stdin and stderr the user is asked there, one
 * request at a time, and stdout keeps the result alone. Without one the request is declined and reported.
 */
export function answerElicitation(
  { output, spinner }: Pick<Connected, 'output' | 'spinner'>,
  { stdin, stderr }: Streams = process,
): HostAnswer {
  if (!stdin.isTTY || !stderr.isTTY) {
    const reported = new Set<string>();
    return (params, { server }) => {
      // One line for each server: a flood of requests must not become a flood of lines.
      if (reported.has(server)) return { action: 'decline' };
      reported.add(server);
      output.report(
        `server ${server}: input request declined because stdin and stderr are not a terminal; message: ${textOf(params.message)}`,
      );
      return { action: 'decline' };
    };
  }
  const print = (pieces: readonly Piece[]) => {
    const look = { columns: stderr.columns || 80, hasColors: false };
    for (const piece of pieces) stderr.write(`${render(piece, look)}\n`);
  };
  const read = (prompt: string, _: unknown, signal?: AbortSignal) =>
    readLine(prompt, { input: stdin, output: stderr }, signal);
  const questions = new Questions({
    // The terminal stays in line mode: no line is ever partly typed.
    editor: { read, untilNotTyping: async () => {} },
    print,
    command: async (text) => print([line(`Unknown command ${text}. ${COMMANDS}`)]),
  });
  const ask = elicitationAsker(questions, { pause: () => spinner.pause() });
  return async (params, { server, signal }) => {
    const request = { ...params, serverName: server, message: textOf(params.message) };
    return ask(request as ElicitationRequest, signal);
  };
}

function textOf(message: unknown): string {
  return typeof message === 'string' ? message : '';
}
