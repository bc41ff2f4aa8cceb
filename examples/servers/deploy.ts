// A deployment server for `toolplane serve` (stdio); `deploy-http.ts` is the same over HTTP.
import { toolServer } from 'toolplane';
import { z } from 'zod';

export const deployments: string[] = [];

export default toolServer('deploy')
  .tool(
    'trigger',
    'Deploy a service',
    { service: z.string(), environment: z.enum(['staging', 'production']).default('staging') },
    ({ service, environment }) => {
      const id = `deploy-${deployments.push(`${service} to ${environment}`)}`;
      return `Started ${id}: ${service} to ${environment}`;
    },
    { annotations: { destructiveHint: true } },
  )
  .tool('status', 'What was deployed so far', {}, () => deployments.join('; ') || 'Nothing yet', {
    annotations: { readOnlyHint: true },
  });
