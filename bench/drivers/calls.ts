// Serves calls of one tool through one of the packages and prints what both sides measured.
// Arguments: the contender and the steps, as JSON. With --expose-gc the heap is measured at each mark.
import { readHeap } from './heap.ts';
import { addTool, loadSdk } from './sdk.ts';
import { STAND_IN_CLI } from './stand-in.ts';
import { type StandInReport, type Step, stepsPrompt } from './steps.ts';

/** The driver's own state when the stand-in reached a mark. */
export type Mark = { cpuUs: number; heapBytes: number };

export type CallsReport = StandInReport & { marks: Record<string, Mark> };

const [, , contender, steps] = process.argv;
const { sdk, z } = await loadSdk(contender);
const tools = [addTool(sdk, { a: z.number(), b: z.number() })];
const calc = sdk.createSdkMcpServer({ name: 'calc', tools });
const marks: Record<string, Mark> = {};

const messages = sdk.query({
  prompt: stepsPrompt(JSON.parse(steps ?? '[]') as Step[]),
  options: { pathToClaudeCodeExecutable: STAND_IN_CLI, mcpServers: { calc } },
});
for await (const message of messages) {
  if (message.subtype === 'bench_mark') marks[message.name ?? ''] = takeMark();
  if (message.type !== 'result') continue;
  const report: CallsReport = { ...(JSON.parse(message.result ?? '') as StandInReport), marks };
  console.log(JSON.stringify(report));
}

function takeMark(): Mark {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, heapBytes: readHeap() };
}
