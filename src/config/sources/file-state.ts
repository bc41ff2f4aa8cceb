import type { Content } from './content.ts';

/** A file that was looked at, as it was found. */
export type FileState = {
  readonly path: string;
  readonly label: string;
  /** `blank`: it is there, and nothing stands in it. */
  readonly state: 'absent' | 'unusable' | 'blank' | 'read';
};

export function fileState(path: string, label: string, content: Content): FileState {
  const isBlank = content.state === 'read' && content.isBlank === true;
  return { path, label, state: isBlank ? 'blank' : content.state };
}
