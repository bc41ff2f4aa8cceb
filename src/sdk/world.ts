import type { AgentLink } from '../control/link.ts';
import type { Environment } from './environment.ts';
import type { AgentLaunch, Options } from './options.ts';

/** What the SDK half gets from its surroundings, so that nothing below reads them. */
export type SdkWorld = {
  readonly version: string;
  /** The environment a started agent inherits, read anew for each conversation. */
  environment(): Environment;
  /** The agent when the options name none. */
  openDefault(launch: AgentLaunch, options: Options): AgentLink;
  warn(warning: { code: string; message: string }): void;
  /** Where frames are printed when somebody debugs. */
  print(line: string): void;
  /** Print frames though no option asks for it. */
  readonly debug: boolean;
};
