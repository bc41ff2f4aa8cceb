import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { within } from '../base/async/timers.ts';
import type { AgentLink } from '../control/link.ts';
import { memoryLinks } from '../control/memory-link.ts';
import { ProcessExitError } from '../control/process-link.ts';
import { type FlagNames, optionName } from '../protocol/launch-flag.ts';
import { messageOf, SdkError } from '../protocol/sdk-error.ts';
import { guarded, type SdkDeps } from '../sdk/conversation/conversation.ts';
import type { LaunchPlan, Options } from '../sdk/options/options.ts';
import { VERSION } from './version.ts';

const DEBUG_VALUES = new Set(['1', 'true', 'frames', '*']);

/**
 * The dependencies of the SDK; only this folder and the CLI read the environment. Messages about options use the names
 * of `nameOf`: a command passes the names of its flags.
 */
export function sdkDeps(nameOf: FlagNames = optionName): SdkDeps {
  const warned = new Set<string>();
  const debug = (process.env.TOOLPLANE_DEBUG ?? '').split(',').some((word) => DEBUG_VALUES.has(word.trim()));
  const warn: SdkDeps['warn'] = ({ code, message }) => {
    if (warned.has(message)) return;
    warned.add(message);
    process.emitWarning(message, { type: 'ToolplaneWarning', code });
  };
  return {
    version: VERSION,
    debug,
    environment: () => ({ ...process.env }),
    openDefault: (launch, options) => openOwnAgent(launch, options, { nameOf, warn }),
    warn,
    print: (line) => void process.stderr.write(`[toolplane] ${line}\n`),
  };
}

const DEFAULT_GRACE_MS = 5_000;

/** Runs the agent of this package in this process. The agent's code is loaded here, so that importing the package stays cheap. */
function openOwnAgent(
  launched: LaunchPlan,
  options: Options,
  { nameOf, warn }: { readonly nameOf: FlagNames; readonly warn: SdkDeps['warn'] },
): AgentLink {
  const { program, agent, fail } = memoryLinks();
  const stop = new AbortController();
  const stderr = options.stderr && guarded('stderr', options.stderr, warn);
  const note = (text: string) => {
    if (stderr) stderr(`[toolplane] ${text}\n`);
    else warn({ code: 'TOOLPLANE_AGENT', message: text });
  };
  const run = async () => {
    const { checkFlags, launch } = await load();
    // The link is closed below, once it is known how the session ended.
    const link: AgentLink = { ...agent, close: async () => {} };
    const session = await launch(link, {
      flags: checkFlags(launched.flags, nameOf),
      env: launched.env,
      cwd: resolve(launched.cwd ?? '.'),
      home: launched.env.HOME ?? homedir(),
      version: VERSION,
      now: () => new Date(),
      note,
      signal: stop.signal,
    });
    await session.done;
    // An agent process that fails ends with the same error.
    if (session.hasFailed) fail(new ProcessExitError(1, null, []));
    else await agent.close();
  };
  const over = run().catch(fail);
  return {
    ...program,
    async close() {
      stop.abort();
      await program.close();
      // A tool that does not end must not block the program.
      await within(options.closeGraceMs ?? DEFAULT_GRACE_MS, over);
    },
  };
}

async function load() {
  try {
    const [{ launch }, { checkFlags }] = await Promise.all([
      import('../agent/launch/launch.ts'),
      import('../agent/launch/parse-flags.ts'),
    ]);
    return { launch, checkFlags };
  } catch (cause) {
    throw new SdkError('spawn-failed', `Toolplane's agent cannot be loaded: ${messageOf(cause)}`, {
      cause,
    });
  }
}
