import type { Options } from './options.ts';

/** The version of the official SDK whose protocol is spoken here, which is what agents gate their behaviour on. */
export const PROTOCOL_OF = '0.3.325';

export type Environment = { [name: string]: string | undefined };

/** The agent's environment: `options.env` replaces the inherited one (C32), then the protocol's own variables. */
export function buildEnvironment(options: Options, inherited: Environment): Environment {
  const env: Environment = {};
  for (const [name, value] of Object.entries(options.env ?? inherited)) {
    if (value !== undefined) env[name] = value;
  }
  env.CLAUDE_CODE_ENTRYPOINT ??= 'sdk-ts';
  if (!options.env?.CLAUDE_AGENT_SDK_VERSION) env.CLAUDE_AGENT_SDK_VERSION = PROTOCOL_OF;
  env.CLAUDE_CODE_SDK_READS_SESSION_STATE = '1';
  delete env.NODE_OPTIONS;
  if (env.DEBUG_CLAUDE_AGENT_SDK) env.DEBUG = '1';
  else delete env.DEBUG;
  if (options.enableFileCheckpointing) env.CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING = 'true';
  const format = options.toolConfig?.askUserQuestion?.previewFormat;
  if (format) env.CLAUDE_CODE_QUESTION_PREVIEW_FORMAT = format;
  return env;
}
