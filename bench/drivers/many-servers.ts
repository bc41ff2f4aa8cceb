// Attaches many servers to one query and prints their heap use. Needs --expose-gc.
// Arguments: the contender as JSON, the number of servers, the tools of each.
import { readHeap } from './heap.ts';
import { addTool, loadSdk, type Shape } from './sdk.ts';
import { STAND_IN_CLI } from './stand-in.ts';
import { type StandInReport, stepsPrompt } from './steps.ts';

export type ManyServersReport = StandInReport['handshake'] & {
  /** Heap use of the zod shapes before any server exists. */
  shapesBytes: number;
  /** Heap use of shapes, servers and the running query. */
  wholeBytes: number;
};

const [, , contender, serverCount, toolCount] = process.argv;
const { sdk, z } = await loadSdk(contender);
const makeShape = (): Shape => ({ a: z.number(), b: z.number() });

// One-time costs are not measured.
await attach('warm-up', [[makeShape()]]);
const before = readHeap();
const shapes = Array.from({ length: Number(serverCount) }, () =>
  Array.from({ length: Number(toolCount) }, makeShape),
);
const withShapes = readHeap();
const { heap, handshake } = await attach('server', shapes);
const report: ManyServersReport = {
  ...handshake,
  shapesBytes: withShapes - before,
  wholeBytes: heap - before,
};
console.log(JSON.stringify(report));

/** Offers the shapes as servers to one query; the heap is read when its first turn begins. */
async function attach(
  prefix: string,
  servers: readonly (readonly Shape[])[],
): Promise<{ heap: number; handshake: StandInReport['handshake'] }> {
  const mcpServers = Object.fromEntries(
    servers.map((tools, index) => {
      const key = `${prefix}-${index}`;
      const offered = tools.map((shape, tool) => addTool(sdk, shape, `add-${tool}`));
      return [key, sdk.createSdkMcpServer({ name: key, tools: offered })];
    }),
  );
  const messages = sdk.query({
    prompt: stepsPrompt([{ kind: 'mark', name: 'turn' }]),
    options: { pathToClaudeCodeExecutable: STAND_IN_CLI, mcpServers },
  });
  let heap = 0;
  let handshake: StandInReport['handshake'] | undefined;
  for await (const message of messages) {
    if (message.subtype === 'bench_mark') heap = readHeap();
    if (message.type === 'result') ({ handshake } = JSON.parse(message.result ?? '') as StandInReport);
  }
  if (!handshake) throw new Error('the query ended without a result');
  return { heap, handshake };
}
