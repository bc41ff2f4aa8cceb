// The client under test: one host with the scenario's server, told by the suite as the last argument. Prints DONE once
// everything went as it should; any other end is a failure of the scenario.
import { createHost } from 'toolplane/host';
import { callsOf } from './calls.ts';

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const url = process.argv.at(-1) ?? '';

await using host = createHost({
  // Which protocol the server speaks is for the host to find out.
  mcpServers: { suite: { type: 'http', url } },
  // Takes a form as it is: the host fills in what the form says by default.
  handlers: { elicitation: async () => ({ action: 'accept', content: {} }) },
});
await host.ready({ servers: ['suite'] });
const calls = callsOf(scenario, await host.listTools(), JSON.parse(context));
// All at once: what belongs to one call must not get into another. One that fails must not cost the others.
const made = await Promise.allSettled(calls.map((call) => host.callTool('suite', call.name, call.arguments)));
const failures = made.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
if (failures.length > 0) throw failures[0];
console.log('DONE');
