import { isRecord } from '../base/is-record.ts';
import { nearest } from '../base/nearest.ts';
import { SdkError } from '../protocol/sdk-error.ts';
import type { PromptDefinition, ResourceDefinition } from './offer.ts';
import type { AnyTool } from './tool.ts';

export type ToolServerOptions = {
  name: string;
  version?: string;
  /** Told to the model as this server's instructions. */
  instructions?: string;
  tools?: readonly AnyTool[];
  resources?: readonly ResourceDefinition[];
  prompts?: readonly PromptDefinition[];
  /** Every tool of this server is always in the prompt, never behind a tool search. */
  alwaysLoad?: boolean;
  /** An unknown tool is a JSON-RPC error −32602 instead of a failed result the model can read (C2). */
  strictProtocolErrors?: boolean;
  /** `resources/list` and `prompts/list` answer empty lists though nothing is offered (C7). */
  emptyStubs?: boolean;
  /** Offer the logging capability, so that `ctx.log()` also reaches the agent. */
  logging?: boolean;
};

export type SdkServerOptions = ToolServerOptions & { timeout?: number };

type Check = { readonly what: string; holds(value: unknown): boolean };

const text: Check = { what: 'a string', holds: (value) => typeof value === 'string' };
const flag: Check = { what: 'a boolean', holds: (value) => typeof value === 'boolean' };
const list: Check = { what: 'a list', holds: Array.isArray };

const OPTIONS: Required<{ [K in keyof SdkServerOptions]: Check }> = {
  name: text,
  version: text,
  instructions: text,
  tools: list,
  resources: list,
  prompts: list,
  alwaysLoad: flag,
  strictProtocolErrors: flag,
  emptyStubs: flag,
  logging: flag,
  timeout: {
    what: 'a number of milliseconds above 0',
    holds: (value) => Number.isFinite(value) && (value as number) > 0,
  },
};

/** Finds the first thing wrong with a server's options; its tools are checked one by one as they are compiled. `undefined` is the same as not given. */
export function checkServerOptions(options: SdkServerOptions): void {
  if (typeof options?.name !== 'string' || options.name === '') {
    throw new SdkError('bad-server', 'A tool server needs a name, a non-empty string');
  }
  const fault = optionFault(options) ?? elementFault(options);
  if (fault) throw new SdkError('bad-server', `server "${options.name}": ${fault}`);
}

/** A value in a few words, for an error's line. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'another object' : String(value);
}

function optionFault(options: object): string | undefined {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(OPTIONS, name) ? OPTIONS[name as keyof typeof OPTIONS] : undefined;
    if (!check) {
      const guess = nearest(name, Object.keys(OPTIONS));
      return `"${name}" is no option${guess ? `; did you mean "${guess}"?` : ''}`;
    }
    if (!check.holds(value)) return `${name} must be ${check.what}; it is ${show(value)}`;
  }
  return undefined;
}

function elementFault({ tools = [], resources = [], prompts = [] }: SdkServerOptions): string | undefined {
  const bad = tools.findIndex((tool) => !isRecord(tool));
  if (bad >= 0) return `tools[${bad}] is ${show(tools[bad])}; pass what tool() returns`;
  return (
    memberFault('resources', resources, { uri: 'string', name: 'string', read: 'function' }) ??
    memberFault('prompts', prompts, { name: 'string', get: 'function' })
  );
}

function memberFault(
  option: string,
  elements: readonly unknown[],
  members: Record<string, 'string' | 'function'>,
): string | undefined {
  for (const [index, element] of elements.entries()) {
    const found = isRecord(element) ? element : {};
    for (const [member, type] of Object.entries(members)) {
      const value = found[member];
      if (typeof value !== type || value === '') return `${option}[${index}] needs "${member}", a ${type}`;
    }
  }
  return undefined;
}
