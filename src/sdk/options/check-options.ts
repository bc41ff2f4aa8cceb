import { isRecord } from '../../base/json-value.ts';
import { truncate } from '../../base/text/display-text.ts';
import { nearest } from '../../base/text/nearest.ts';
import { redactText } from '../../base/text/redact.ts';
import { HOOK_EVENTS } from '../../protocol/hook.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { OPTION_TABLE } from './option-table.ts';
import type { Options } from './options.ts';

/** Finds the first thing wrong with the options, before anything is started. `undefined` is the same as not given. */
export function checkOptions(options: Options): void {
  if (!isRecord(options))
    throw new SdkError('bad-option', `options must be an object; it is ${show(options)}`);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const row = Object.hasOwn(OPTION_TABLE, name) ? OPTION_TABLE[name] : undefined;
    if (!row) {
      const guess = nearest(name, Object.keys(OPTION_TABLE));
      throw new SdkError(
        'bad-option',
        `options.${name} is not an option${guess ? `; did you mean "${guess}"?` : ''}`,
      );
    }
    if (row.goes === 'refused') {
      throw new SdkError('unsupported-option', `options.${name} is not supported: ${row.does}`);
    }
    if (!row.check.holds(value)) {
      throw new SdkError('bad-option', `options.${name} must be ${row.check.what}; it is ${show(value)}`);
    }
  }
  const fault = COMBINATIONS.find((rule) => rule.broken(options));
  if (fault) throw new SdkError('bad-option', fault.message);
  checkHooks(options.hooks);
}

const COMBINATIONS: readonly { broken(options: Options): unknown; message: string }[] = [
  {
    broken: ({ model, fallbackModel }) => fallbackModel && fallbackModel === model,
    message: 'options.fallbackModel must be another model than options.model',
  },
  {
    broken: ({ canUseTool, permissionPromptToolName }) => canUseTool && permissionPromptToolName,
    message: 'options.canUseTool and options.permissionPromptToolName exclude each other: use one',
  },
  {
    broken: ({ settings, sandbox, extraArgs }) => sandbox && !isInline(settings || extraArgs?.settings),
    message:
      'options.sandbox can be merged into options.settings only if these are an object or JSON text: put it into the settings file',
  },
  {
    broken: ({ supportedDialogKinds, onUserDialog }) => supportedDialogKinds?.length && !onUserDialog,
    message: 'options.supportedDialogKinds needs options.onUserDialog, which answers the dialogs',
  },
];

/** Settings that are here, not in a file. */
function isInline(settings: Options['settings'] | null): boolean {
  if (typeof settings !== 'string') return true;
  try {
    return isRecord(JSON.parse(settings));
  } catch {
    return false;
  }
}

function checkHooks(hooks: Options['hooks']): void {
  for (const [event, matchers] of Object.entries(hooks ?? {})) {
    if (!(HOOK_EVENTS as readonly string[]).includes(event)) {
      const guess = nearest(event, HOOK_EVENTS);
      throw new SdkError(
        'bad-option',
        `options.hooks.${event} is not a hook event${guess ? `; did you mean "${guess}"?` : ''}`,
      );
    }
    if (!Array.isArray(matchers)) throw new SdkError('bad-option', `options.hooks.${event} must be a list`);
    for (const [index, matcher] of matchers.entries()) {
      if (!Array.isArray(matcher?.hooks) || !matcher.hooks.every((hook) => typeof hook === 'function')) {
        throw new SdkError(
          'bad-option',
          `options.hooks.${event}[${index}].hooks must be a list of functions`,
        );
      }
    }
  }
}

/** What was given, without the values of objects: they may be secrets. */
function show(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value))
    return `a list of ${[...new Set(value.map((item) => typeof item))].join(', ') || 'nothing'}`;
  if (typeof value === 'object') {
    const members = Object.entries(value).map(([name, member]) => `${name}: ${typeof member}`);
    return `an object { ${members.slice(0, 8).join(', ')}${members.length > 8 ? ', …' : ''} }`;
  }
  if (typeof value === 'string') {
    const text = redactText(value);
    return JSON.stringify(truncate(text, 60));
  }
  return typeof value === 'function' ? 'a function' : String(value);
}

/** Warnings about valid options that do not have the expected effect. */
export function optionWarnings(options: Options): { code: string; message: string }[] {
  const warnings: { code: string; message: string }[] = [];
  if (options.mcpConfig !== undefined) {
    warnings.push({
      code: 'TOOLPLANE_MCP_CONFIG_DEPRECATED',
      message:
        'options.mcpConfig is deprecated: use options.mcpServers, which also takes servers of this process',
    });
  }
  if (!options.canUseTool) return warnings;
  if (options.permissionMode === 'bypassPermissions') {
    warnings.push({
      code: 'TOOLPLANE_CAN_USE_TOOL_SHADOWED',
      message:
        "options.canUseTool will not be asked: permissionMode 'bypassPermissions' allows every call before it. Use a PreToolUse hook to see every call",
    });
    return warnings;
  }
  const whole = (options.allowedTools ?? []).filter((rule) => /^[^()]+(\(\*?\))?$/.test(rule));
  if (whole.length > 0) {
    warnings.push({
      code: 'TOOLPLANE_CAN_USE_TOOL_SHADOWED',
      message: `options.canUseTool will not be asked about ${[...new Set(whole)].join(', ')}: allowedTools allows these tools whole. Remove them there, or use a PreToolUse hook`,
    });
  }
  return warnings;
}
