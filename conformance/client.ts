// The client under test: a host of the built package with the scenario's server, whose URL is the last argument. Prints
// DONE on success; any other end fails the scenario.
import { createHost, HostError } from 'toolplane/host';
import { authOptions, oauthEntry, REFUSED } from './auth.ts';
import { callsOf } from './calls.ts';

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: text = '{}' } = process.env;
const context = JSON.parse(text);
const url = process.argv.at(-1) ?? '';
const oauth = scenario.startsWith('auth/') ? await oauthEntry(scenario, url, context) : undefined;

await using host = createHost({
  // The host detects the protocol version.
  mcpServers: { suite: { type: 'http', url, ...(oauth && { oauth }) } },
  ...(oauth && { auth: authOptions(context) }),
  // Accepts each form as it is: the host fills in the defaults.
  handlers: { elicitation: async () => ({ action: 'accept', content: {} }) },
});
const reason = REFUSED.get(scenario);
const mustRefuse = reason !== undefined;
try {
  await run();
  if (mustRefuse) console.error('Error: the client went on instead of refusing');
  else console.log('DONE');
} catch (failure) {
  const isRefusal = failure instanceof HostError && failure.code === 'unauthorized';
  const { authCode = null } = host.status().suite?.cause ?? {};
  if (!mustRefuse || !isRefusal || authCode !== reason) throw failure;
  console.log('DONE');
}

async function run(): Promise<void> {
  await host.ready({ servers: ['suite'] });
  if (scenario.startsWith('sep-2640-')) await useSkills();
  const calls = callsOf(scenario, await host.listTools(), context);
  // Concurrent calls must not affect each other, and one that fails must not affect the others.
  const made = await Promise.allSettled(
    calls.map((call) => host.callTool('suite', call.name, call.arguments)),
  );
  const failures = made.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (failures.length > 0) throw failures[0];
}

/** Loads each skill as an agent does: its other files are read only once its text was verified. */
async function useSkills(): Promise<void> {
  for (const { uri, resources } of await host.listSkills('suite')) {
    if (scenario === 'sep-2640-client-no-prefetch') continue;
    const refused = await host.readSkill('suite', uri).then(
      () => false,
      () => true,
    );
    if (refused || resources === 'dynamic') continue;
    for (const file of resources) if (file.uri !== uri) await host.readResource('suite', file.uri);
  }
}
