import type { Readable, Writable } from 'node:stream';
import { LineWriter } from '../base/line-writer.ts';
import { LineSplitter } from '../base/lines.ts';
import { Queue } from '../base/queue.ts';
import type { Frame } from '../protocol/control-frame.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import { decodeFrame, encodeFrame } from './frame-codec.ts';
import type { AgentLink } from './link.ts';

/** A link over a pair of streams, one frame a line: the agent's end of its own stdin and stdout. */
export function streamLink(
  streams: { readonly input: Readable; readonly output: Writable },
  options: { readonly maxLineLength: number; readonly onNoise?: (line: string) => void },
): AgentLink {
  const frames = new Queue<Frame>();
  const writer = new LineWriter(streams.output);
  const splitter = new LineSplitter({
    maxLength: options.maxLineLength,
    onLine: (line) => {
      const frame = decodeFrame(line);
      if (frame) frames.push(frame);
      else options.onNoise?.(line);
    },
    onTooLong: (length) => {
      const most = options.maxLineLength;
      frames.fail(new SdkError('line-too-long', `A line of ${length} characters came; the most is ${most}`));
    },
  });
  streams.input.setEncoding('utf8');
  streams.input.on('data', (chunk: string) => splitter.write(chunk));
  streams.input.once('end', () => {
    splitter.end();
    frames.end();
  });
  streams.input.once('close', () => frames.end());
  streams.input.once('error', (cause) => frames.fail(cause));
  return {
    frames,
    send: (frame) => writer.write(encodeFrame(frame)),
    post: (frame) => writer.post(encodeFrame(frame)),
    room: () => writer.room,
    end: () => writer.end(),
    async close() {
      writer.end();
      frames.end();
    },
  };
}
