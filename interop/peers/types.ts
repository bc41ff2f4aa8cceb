import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bin, ROOT } from '../../scripts/step.ts';
import type { PeerProject } from './project.ts';

/** The entry points of the published packages whose declarations import the official package. */
const ENTRIES: readonly string[] = [
  '@agentclientprotocol/claude-agent-acp',
  '@arizeai/openinference-instrumentation-claude-agent-sdk',
  '@mastra/claude',
  'ai-sdk-provider-claude-code',
  'braintrust',
  'langsmith/experimental/anthropic',
];

/**
 * The errors of the compiler in a program that passes the package to each published package, with the declarations of
 * all of them checked too.
 */
export async function typeErrors(project: PeerProject): Promise<string[]> {
  const imports = ENTRIES.map((entry, at) => `export * as entry${at} from '${entry}';`);
  writeFileSync(join(project.path, 'uses.ts'), [...imports, USES].join('\n'));
  writeFileSync(join(project.path, 'tsconfig.json'), JSON.stringify(CONFIG));
  const printed = await new Promise<string>((resolve) => {
    execFile(bin('tsc'), ['--pretty', 'false', '-p', project.path], { maxBuffer: 2 ** 26 }, (_, stdout) =>
      resolve(stdout),
    );
  });
  const lines = printed.split('\n').filter((line) => /^\S.*: error TS\d+/.test(line));
  return lines.map((line) => line.replace(/^[^(]*node_modules\//, '').replaceAll(project.path, '<project>'));
}

const CONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2024', 'esnext.disposable', 'dom'],
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    types: ['node'],
  },
  files: ['uses.ts'],
};

const USES = `
import * as sdk from '@anthropic-ai/claude-agent-sdk';
import { ClaudeAgentSDKInstrumentation } from '@arizeai/openinference-instrumentation-claude-agent-sdk';
import { ClaudeSDKAgent } from '@mastra/claude';
import { createClaudeCode } from 'ai-sdk-provider-claude-code';
import { wrapClaudeAgentSDK as braintrust } from 'braintrust';
import { wrapClaudeAgentSDK as langsmith } from 'langsmith/experimental/anthropic';

const server = sdk.createSdkMcpServer({ name: 'calc', tools: [] });
const canUseTool: sdk.CanUseTool = async (_tool, input) => ({ behavior: 'allow', updatedInput: input });
const options: sdk.Options = { mcpServers: { server }, canUseTool };
export const traced = [
  braintrust(sdk).query({ prompt: 'Hello', options }),
  langsmith(sdk).query({ prompt: 'Hello', options }),
  new ClaudeAgentSDKInstrumentation().manuallyInstrument(sdk).query({ prompt: 'Hello', options }),
] satisfies AsyncIterable<sdk.SDKMessage>[];
export const agent = new ClaudeSDKAgent({ id: 'a', description: 'An agent', sdkOptions: options });
export const model = createClaudeCode({ defaultSettings: { mcpServers: { server }, canUseTool } })('sonnet');
`;
