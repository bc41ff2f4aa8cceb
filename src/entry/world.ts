import { SdkError } from '../protocol/sdk-error.ts';
import type { SdkWorld } from '../sdk/world.ts';
import { VERSION } from './version.ts';

const DEBUG_WORDS = new Set(['1', 'true', 'frames', '*']);

/** The real surroundings: the only place of the package that reads the environment. */
export function realWorld(): SdkWorld {
  const warned = new Set<string>();
  const debug = (process.env.TOOLPLANE_DEBUG ?? '').split(',').some((word) => DEBUG_WORDS.has(word.trim()));
  return {
    version: VERSION,
    debug,
    environment: () => ({ ...process.env }),
    openDefault() {
      throw new SdkError(
        'no-agent',
        'options.pathToClaudeCodeExecutable is not set: name the agent CLI to drive, such as the path of `claude`',
      );
    },
    warn({ code, message }) {
      if (warned.has(message)) return;
      warned.add(message);
      process.emitWarning(message, { type: 'ToolplaneWarning', code });
    },
    print: (line) => void process.stderr.write(`[toolplane] ${line}\n`),
  };
}
