import type { SDKMessage } from '../../protocol/agent-message.ts';
import { succeeded } from '../chat/result.ts';

export const OUTPUT_FORMATS = ['text', 'json', 'stream-json'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** What a message adds to stdout: nothing but the last text, the result as one object, or everything. */
export function outputOf(format: OutputFormat, message: SDKMessage): string {
  switch (format) {
    case 'stream-json':
      return `${JSON.stringify(message)}\n`;
    case 'json':
      return message.type === 'result' ? `${JSON.stringify(message)}\n` : '';
    case 'text':
      return message.type === 'result' && succeeded(message) ? `${message.result}\n` : '';
  }
}
