import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/agent/models/model.ts';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import type { Options } from '../../../src/sdk/options/options.ts';
import { collect } from '../../support/collect.ts';
import { drive, texts } from '../../support/drive.ts';
import { memoryPlace } from '../memory/place.ts';

const PRESET = { type: 'preset', preset: 'claude_code' } as const;

async function firstRequest(systemPrompt: Options['systemPrompt'], { isRepository = false } = {}) {
  const place = memoryPlace({});
  const { cwd } = place.options;
  const env = { PATH: process.env.PATH };
  if (isRepository) execFileSync('git', ['init', '--initial-branch=main'], { cwd, env, stdio: 'ignore' });
  const { query, model } = drive(
    [
      toolUse('Agent', {
        description: 'd',
        prompt: 'p',
        run_in_background: false,
        subagent_type: 'general-purpose',
      }),
      text('report'),
      text('done'),
    ],
    systemPrompt === undefined ? {} : { systemPrompt },
    {
      builtIns: ['Agent'],
      workspace: { cwd, home: '/h', directories: [] },
      environment: {
        cwd,
        platform: 'linux',
        system: 'Linux 6.1',
        env: { ...env, SHELL: '/bin/zsh' },
        startedAt: new Date(2026, 0, 5, 23, 59),
      },
      memory: { ...place.options, autoFolders: [place.at('home/notes')] },
    },
  );
  await collect(query);
  const [request, ofAgent] = model.requests;
  const messages = request?.messages ?? [];
  const all = messages.flatMap((message) => texts({ ...(request as ModelRequest), messages: [message] }));
  return { system: request?.system ?? '', all, cwd, ofAgent: ofAgent?.system ?? '' };
}

const facts = (cwd: string, isRepository = false) => `# Environment
- Working directory: ${cwd}
- Git repository: ${isRepository ? 'yes' : 'no'}
- Platform: linux (Linux 6.1)
- Shell: zsh
- Date at the start of the session: 2026-01-05
- Model: m`;

test('the environment follows the prompt of the program, also for sub-agents', async () => {
  const { system, all, cwd, ofAgent } = await firstRequest('Mine.', { isRepository: true });
  expect(system).toBe(`Mine.\n\n${facts(cwd, true)}`);
  expect(all).toEqual(['go']);
  expect(ofAgent).toContain(facts(cwd, true));
});

test("the agent's own prompt comes with the auto-memory folder and, before the first prompt, the state of git", async () => {
  const { system, all, cwd } = await firstRequest(PRESET, { isRepository: true });
  expect(system).toContain(`${facts(cwd, true)}\n\n# Notes for later conversations\nThe folder `);
  expect(all).toEqual([expect.stringContaining('Current branch: main'), 'go']);
});

test('excludeDynamicSections moves the facts to the first reminder', async () => {
  const { system, all, cwd } = await firstRequest({ ...PRESET, excludeDynamicSections: true });
  expect(system).not.toContain(cwd);
  expect(all).toEqual([expect.stringContaining(facts(cwd)), 'go']);
  expect(all[0]).toContain('# Notes for later conversations');
});
