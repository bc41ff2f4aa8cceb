import type { SdkWorld } from '../sdk/world.ts';
import { openOwnAgent } from './own-agent.ts';
import { VERSION } from './version.ts';

const DEBUG_WORDS = new Set(['1', 'true', 'frames', '*']);

/** The real surroundings: the only place of the package that reads the environment. */
export function realWorld(): SdkWorld {
  const warned = new Set<string>();
  const debug = (process.env.TOOLPLANE_DEBUG ?? '').split(',').some((word) => DEBUG_WORDS.has(word.trim()));
  const warn: SdkWorld['warn'] = ({ code, message }) => {
    if (warned.has(message)) return;
    warned.add(message);
    process.emitWarning(message, { type: 'ToolplaneWarning', code });
  };
  return {
    version: VERSION,
    debug,
    environment: () => ({ ...process.env }),
    openDefault: (launch, options) => openOwnAgent(launch, options, warn),
    warn,
    print: (line) => void process.stderr.write(`[toolplane] ${line}\n`),
  };
}
