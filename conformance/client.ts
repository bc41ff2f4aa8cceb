// The client under test: a host with the scenario's server, whose URL is the last argument. Prints DONE on success; any
// other end fails the scenario.
import { createHost } from 'toolplane/host';
import { callsOf } from './calls.ts';

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const url = process.argv.at(-1) ?? '';

await using host = createHost({
  // The host detects the protocol version.
  mcpServers: { suite: { type: 'http', url } },
  // Accepts each form as it is: the host fills in the defaults.
  handlers: { elicitation: async () => ({ action: 'accept', content: {} }) },
});
await host.ready({ servers: ['suite'] });
const calls = callsOf(scenario, await host.listTools(), JSON.parse(context));
// Concurrent calls must not affect each other, and one that fails must not affect the others.
const made = await Promise.allSettled(calls.map((call) => host.callTool('suite', call.name, call.arguments)));
const failures = made.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
if (failures.length > 0) throw failures[0];
console.log('DONE');
