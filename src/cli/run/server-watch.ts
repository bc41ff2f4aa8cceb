import { isRecord } from '../../base/json-value.ts';
import type { SDKMessage } from '../../protocol/agent-message.ts';
import { mcpToolName } from '../../protocol/tool-name.ts';
import type { AgentClient } from '../../sdk/agent-client.ts';
import { type ServerHealth, serverFaults, serversOf } from '../chat/server-faults.ts';

/** Tells which servers cannot be used, each fault once: those that failed before the turn and those that do until its end. */
export class ServerWatch {
  readonly #client: Pick<AgentClient, 'mcpServerStatus'>;
  readonly #tell: (line: string) => void;
  #faults: Readonly<Record<string, string>> = {};
  #named: readonly ServerHealth[] = [];
  /** The tools the model could call from the beginning. */
  #tools: readonly string[] = [];
  #asking: Promise<unknown> = Promise.resolve();

  constructor(client: Pick<AgentClient, 'mcpServerStatus'>, tell: (line: string) => void) {
    this.#client = client;
    this.#tell = tell;
  }

  received(message: SDKMessage): void {
    if (message.type !== 'system' || message.subtype !== 'init') return;
    this.#named = serversOf(message);
    this.#tools = Array.isArray(message.tools) ? message.tools.map(String) : [];
    if (this.#named.some(isUnwell)) this.#asking = this.#ask();
  }

  /** Resolves when everything is told; the turn is over. */
  async settled(): Promise<void> {
    await this.#asking;
    if (!this.#named.some(({ status }) => status === 'pending')) return;
    const servers = await this.#ask();
    for (const { name } of servers.filter((it) => isLate(it) && !this.#isKnown(it)))
      this.#tell(`server ${name}: was not ready during this turn`);
  }

  /** Whether its tools were there from an earlier time: a call would have waited for it, so nothing was missed. */
  #isKnown({ name }: ServerHealth): boolean {
    return this.#tools.some((tool) => tool.startsWith(mcpToolName(name, '')));
  }

  async #ask(): Promise<readonly ServerHealth[]> {
    // An agent that does not say what is wrong has said of whom.
    const servers = await this.#client.mcpServerStatus().catch(() => this.#named);
    const { faults, lines } = serverFaults(this.#faults, servers);
    this.#faults = faults;
    for (const line of lines) this.#tell(line);
    return servers;
  }
}

/** One that waits to be asked for is not late. */
function isLate(server: ServerHealth & { readonly config?: unknown }): boolean {
  const isOnDemand = isRecord(server.config) && server.config.start === 'on-demand';
  return server.status === 'pending' && !isOnDemand;
}

function isUnwell({ status }: ServerHealth): boolean {
  return status !== 'connected' && status !== 'pending' && status !== 'disabled';
}
