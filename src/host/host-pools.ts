import type { Servers } from '../mcp/servers/servers.ts';
import { Assembler } from '../pool/assemble.ts';
import type { PinWatch } from '../pool/pinning/pin-watch.ts';
import { ToolIndex } from '../pool/search/tool-index.ts';
import { type PoolOptions, type PoolParts, ToolPool } from './tool-pool.ts';

/** The longest name of a tool that most models take. */
const MAX_NAME_LENGTH = 128;

type PoolsWorld = Pick<PoolParts, 'call'> & {
  readonly servers: Servers;
  readonly watch: PinWatch;
};

/** Makes the pools of a host; what one is made of is not made again for the next. */
export class HostPools {
  readonly #world: PoolsWorld;
  readonly #index = new ToolIndex();
  /** By the options: who asks in two ways by turns is served as fast. */
  readonly #assemblers = new Map<string, Assembler>();

  #searching: Promise<unknown> = Promise.resolve();

  constructor(world: PoolsWorld) {
    this.#world = world;
  }

  /** Pools share an index, which is about the tools of one: they search one after the other. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#searching.then(work);
    this.#searching = done.catch(() => {});
    return done;
  }

  /** The tools there are now. */
  make({ maxNameLength = MAX_NAME_LENGTH, marks = false }: PoolOptions): ToolPool {
    const { servers, watch, call } = this.#world;
    const key = `${maxNameLength} ${marks}`;
    const assembler = this.#assemblers.get(key) ?? new Assembler();
    this.#assemblers.set(key, assembler);
    const pool = assembler.assemble({ builtIns: [], servers: servers.tools, maxNameLength, marks });
    return new ToolPool({
      pool,
      index: this.#index,
      alone: (work) => this.#alone(work),
      call,
      changeOf: (name, tool) => {
        const server = servers.all.get(name);
        return server && watch.changeOf(name, server, tool)?.text;
      },
    });
  }
}
