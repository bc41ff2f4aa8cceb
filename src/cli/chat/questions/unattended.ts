import { within } from '../../../base/async/timers.ts';
import { truncate } from '../../../base/text/display-text.ts';
import { acceptCommand } from '../../../pool/pinning/tool-change.ts';
import type { PermissionUpdate } from '../../../protocol/permission.ts';
import type { CanUseTool, OnElicitation, Options } from '../../../sdk/options/options.ts';
import { sanitizeLine } from '../../terminal/terminal-text.ts';
import { callSummary, channelNames } from '../message-text.ts';

/** How long a request waits for an answer through a channel. */
const RELAY_MS = 61 * 60 * 1000;
const MAX_CALL_LENGTH = 200;
const NON_INTERACTIVE = 'Permission required, but this run is non-interactive';

/** Options of a non-interactive run: its permission requests wait for channels that are connecting. */
export function unattendedOptions({
  extraArgs,
  pathToClaudeCodeExecutable,
}: Options): Pick<Options, 'extraArgs'> {
  // Only the built-in agent knows the flag.
  return pathToClaudeCodeExecutable === undefined
    ? { extraArgs: { ...extraArgs, 'await-channels': null } }
    : {};
}

/** Denies every request of a non-interactive run, and records what would have been asked. */
export class Unattended {
  readonly #rules = new Map<string, Set<string>>();
  readonly #servers = new Set<string>();
  /** Reasons of denied calls that no rule can allow, by tool. */
  readonly #others = new Map<string, string>();

  readonly #onDenied: (toolUseId: string, reason: string) => void;
  readonly #onWaiting: (text: string) => void;

  /** `onWaiting` gets a line when a request waits for an answer through channels. */
  constructor(onDenied: (toolUseId: string, reason: string) => void, onWaiting: (text: string) => void) {
    this.#onDenied = onDenied;
    this.#onWaiting = onWaiting;
  }

  readonly canUseTool: CanUseTool = async (tool, input, context) => {
    const { suggestions = [], toolUseID, toolChange, suppressAlwaysAllowRule, decisionReason } = context;
    if (context.relayedTo) {
      // A person may answer through a channel.
      const call = truncate(sanitizeLine(`${tool} ${callSummary(tool, input)}`), MAX_CALL_LENGTH);
      this.#onWaiting(`waiting for an answer of ${channelNames(context.relayedTo)} to: ${call}`);
      await within(RELAY_MS, new Promise(() => {}), context.signal);
      if (context.signal.aborted) return { behavior: 'deny', message: NON_INTERACTIVE };
    }
    if (toolChange || suppressAlwaysAllowRule) {
      const why = decisionReason ?? 'approval is required for every call';
      const text = toolChange ? `${why}; to accept it: ${acceptCommand(toolChange)}` : why;
      this.#others.set(tool, text);
      return this.#deny(toolUseID, `${NON_INTERACTIVE}: ${text}`);
    }
    const allowing = suggestions.filter((it) => 'behavior' in it && it.behavior === 'allow');
    const rules = formatRules(allowing);
    const known = this.#rules.get(tool) ?? new Set();
    for (const rule of rules.length > 0 ? rules : [tool]) known.add(rule);
    this.#rules.set(tool, known);
    return this.#deny(toolUseID, `${NON_INTERACTIVE}.`);
  };

  readonly onElicitation: OnElicitation = async ({ serverName }) => {
    this.#servers.add(serverName);
    return { action: 'decline' };
  };

  /** One line for each request that was denied. */
  get lines(): string[] {
    return [
      ...[...this.#rules].map(
        ([tool, rules]) =>
          `${tool} was denied because this run is non-interactive; allow it with ${flagsFor(rules)}`,
      ),
      ...[...this.#others].map(
        ([tool, why]) => `${tool} was denied because this run is non-interactive: ${why}`,
      ),
      ...[...this.#servers].map(
        (server) =>
          `server ${server} requested input, which was declined because this run is non-interactive`,
      ),
    ];
  }

  #deny(toolUseId: string, message: string): { behavior: 'deny'; message: string } {
    this.#onDenied(toolUseId, message);
    return { behavior: 'deny', message };
  }
}

function flagsFor(rules: ReadonlySet<string>): string {
  return [...rules].map((rule) => `--allowedTools '${rule.replaceAll("'", "'\\''")}'`).join(' ');
}

/** The rules of these updates in the format of `--allowedTools`: `mcp__docs__search`, `Bash(git log:*)`. */
export function formatRules(updates: readonly PermissionUpdate[]): string[] {
  return updates.flatMap((update) =>
    'rules' in update
      ? update.rules.map(({ toolName, ruleContent }) =>
          ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`,
        )
      : [],
  );
}
