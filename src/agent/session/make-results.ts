import { keepResults, type ResultKeeping } from '../results/result-source.ts';
import { lastingStore, realDirectory, temporaryStore } from '../results/result-store.ts';
import type { SessionOptions } from './session-options.ts';

/** What becomes of long and binary results: they stay beside the transcript, and are gone with a session that has none. */
export function makeResults({
  resultsDirectory,
  transcript,
  maxResultTokens,
  resultFiles,
}: Pick<
  SessionOptions,
  'resultsDirectory' | 'transcript' | 'maxResultTokens' | 'resultFiles'
>): ResultKeeping {
  const directory = resultsDirectory ?? (transcript && besideTranscript(transcript.path));
  return keepResults(directory === undefined ? temporaryStore() : lastingStore(directory), {
    ...(maxResultTokens !== undefined && { maxTokens: maxResultTokens }),
    ...(resultFiles !== undefined && { hasFiles: resultFiles }),
  });
}

/** Where the results of the conversations went that this one goes on from: its messages speak of them. */
export function earlierResults({ goesOnFrom = [] }: Pick<SessionOptions, 'goesOnFrom'>): string[] {
  return goesOnFrom.map((path) => realDirectory(besideTranscript(path)));
}

/** `…/<session>.jsonl` has its results in `…/<session>/tool-results`. */
function besideTranscript(path: string): string {
  return `${path.replace(/\.jsonl$/, '')}/tool-results`;
}
