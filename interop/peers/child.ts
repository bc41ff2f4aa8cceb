// Runs one scenario: node child.ts '{"scenario": …, "project": …, "agent": …, "cwd": …}'. Sends the outcome to its parent.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadScenario, type ScenarioCall, type ScenarioOutcome, type Setup } from './scenario.ts';

const call = JSON.parse(String(process.argv[2])) as ScenarioCall;
const { load } = (await import(pathToFileURL(join(call.project, 'load.js')).href)) as Pick<Setup, 'load'>;

const setup: Setup = {
  agent: call.agent,
  cwd: call.cwd,
  options: {
    ...(call.agent && { pathToClaudeCodeExecutable: call.agent }),
    cwd: call.cwd,
    model: 'claude-sonnet-5',
    settingSources: [],
    tools: [],
  },
  load,
  packagePath(name) {
    const own = join(call.project, 'node_modules', name);
    return existsSync(own) ? own : join(call.project, '../..', name);
  },
};

async function outcome(): Promise<ScenarioOutcome> {
  try {
    const { run } = await loadScenario(call.scenario);
    return { seen: await run(setup) };
  } catch (error) {
    return { failed: error instanceof Error ? String(error.stack) : String(error) };
  }
}

const result = await outcome();
process.send?.(result, () => process.exit());
