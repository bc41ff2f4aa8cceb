// Serves calls of one tool through one of the packages. Argument: the contender as JSON. Each line on stdin is a list
// of steps as JSON, answered by a line with the figures of both sides. With --expose-gc the heap is measured at each mark.
import { createInterface } from 'node:readline';
import { readHeap } from './heap.ts';
import { addTool, loadSdk, type UserTurn } from './sdk.ts';
import { STAND_IN_CLI } from './stand-in.ts';
import { type StandInReport, type Step, stepsPrompt } from './steps.ts';

/** The driver's own state when the stand-in reached a mark. */
export type Mark = { cpuUs: number; heapBytes: number };

export type CallsReport = StandInReport & { marks: Record<string, Mark> };

const { sdk, z } = await loadSdk(process.argv[2]);
const tools = [addTool(sdk, { a: z.number(), b: z.number() })];
const calc = sdk.createSdkMcpServer({ name: 'calc', tools });
const marks: Record<string, Mark> = {};

const messages = sdk.query({
  prompt: turns(),
  options: { pathToClaudeCodeExecutable: STAND_IN_CLI, mcpServers: { calc } },
});
for await (const message of messages) {
  if (message.subtype === 'bench_mark') marks[message.name ?? ''] = takeMark();
  if (message.type !== 'result') continue;
  const report: CallsReport = { ...(JSON.parse(message.result ?? '') as StandInReport), marks };
  console.log(JSON.stringify(report));
}

async function* turns(): AsyncGenerator<UserTurn> {
  for await (const line of createInterface(process.stdin)) {
    const content = stepsPrompt(JSON.parse(line) as Step[]);
    yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' };
  }
}

function takeMark(): Mark {
  const { user, system } = process.cpuUsage();
  return { cpuUs: user + system, heapBytes: readHeap() };
}
