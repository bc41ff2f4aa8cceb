import { isRecord } from '../../base/json-value.ts';
import { describeValue, optionFault, withoutNull } from '../../base/option-check.ts';
import { didYouMean } from '../../base/text/nearest.ts';
import { HOOK_EVENTS } from '../../protocol/hook.ts';
import { SdkError } from '../../protocol/sdk-error.ts';
import { OPTION_TABLE } from './option-table.ts';
import type { Options } from './options.ts';

/**
 * Throws for the first invalid option, before anything is started. Undefined and null count as not given: the returned
 * options contain no null. Values that the official package passes on to the agent are passed on too. With
 * `strictOptions`, these values, null and unknown options are errors.
 */
export function checkOptions(given: Options): Options {
  if (!isRecord(given))
    throw new SdkError('bad-option', `options must be an object; it is ${describeValue(given)}`);
  const isStrict = given.strictOptions === true;
  const options = isStrict ? given : withoutNull(given);
  for (const [name, value] of Object.entries(options)) {
    const row = isKnown(name) ? OPTION_TABLE[name] : undefined;
    if (value !== undefined && row?.goes === 'refused')
      throw new SdkError('unsupported-option', `options.${name} is not supported: ${row.does}`);
  }
  const checked = isStrict
    ? options
    : Object.fromEntries(Object.entries(options).filter(([name]) => isKnown(name)));
  const checks = isStrict ? STRICT_CHECKS : CHECKS;
  const invalid = optionFault(checked, checks, (name) => `options.${name}`);
  if (invalid !== undefined) throw new SdkError('bad-option', invalid);
  const fault = COMBINATIONS.find((rule) => rule.broken(options));
  if (fault) throw new SdkError('bad-option', fault.message);
  checkHooks(options.hooks, isStrict);
  return options;
}

function isKnown(name: string): boolean {
  return Object.hasOwn(OPTION_TABLE, name);
}

const STRICT_CHECKS = Object.fromEntries(
  Object.entries(OPTION_TABLE).map(([name, { check }]) => [name, check]),
);
const CHECKS = Object.fromEntries(
  Object.entries(OPTION_TABLE).map(([name, { check, tolerates }]) => {
    const holds = (value: unknown) => check.holds(value) || tolerates?.(value) === true;
    return [name, { what: check.what, holds }];
  }),
);

const COMBINATIONS: readonly { broken(options: Options): unknown; message: string }[] = [
  {
    broken: ({ model, fallbackModel }) => fallbackModel && fallbackModel === model,
    message: 'options.fallbackModel must differ from options.model',
  },
  {
    broken: ({ canUseTool, permissionPromptToolName }) => canUseTool && permissionPromptToolName,
    message: 'options.canUseTool and options.permissionPromptToolName cannot be combined: use one of them',
  },
  {
    broken: ({ settings, sandbox, extraArgs }) => sandbox && !isInline(settings || extraArgs?.settings),
    message:
      'options.sandbox can be merged into options.settings only if options.settings is an object or JSON text: add the sandbox to the settings file instead',
  },
  {
    broken: ({ supportedDialogKinds, onUserDialog }) => supportedDialogKinds?.length && !onUserDialog,
    message: 'options.supportedDialogKinds needs options.onUserDialog, which answers the dialogs',
  },
];

/** Whether the settings are given inline, not as a file path. */
function isInline(settings: Options['settings'] | null): boolean {
  if (typeof settings !== 'string') return true;
  try {
    return isRecord(JSON.parse(settings));
  } catch {
    return false;
  }
}

/** A hook that cannot run is an error, because hooks guard actions. */
function checkHooks(hooks: Options['hooks'], isStrict: boolean): void {
  for (const [event, matchers] of Object.entries(hooks ?? {})) {
    if (isStrict && !isHookEvent(event)) {
      throw new SdkError(
        'bad-option',
        `options.hooks.${event} is not a hook event${didYouMean(event, HOOK_EVENTS)}`,
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

function isHookEvent(event: string): boolean {
  return (HOOK_EVENTS as readonly string[]).includes(event);
}

/** Warnings about options that are unknown or do not have the expected effect. */
export function optionWarnings(options: Options): { code: string; message: string }[] {
  const warnings = Object.entries(options)
    .filter(([name, value]) => value !== undefined && !isKnown(name))
    .map(([name]) => ({
      code: 'TOOLPLANE_UNKNOWN_OPTION',
      message: `options.${name} is not an option and is ignored${didYouMean(name, Object.keys(OPTION_TABLE))}`,
    }));
  for (const event of Object.keys(options.hooks ?? {}).filter((it) => !isHookEvent(it))) {
    warnings.push({
      code: 'TOOLPLANE_UNKNOWN_HOOK_EVENT',
      message: `options.hooks.${event} is not a hook event, so its hooks will not run${didYouMean(event, HOOK_EVENTS)}`,
    });
  }
  if (options.mcpConfig !== undefined) {
    warnings.push({
      code: 'TOOLPLANE_MCP_CONFIG_DEPRECATED',
      message:
        'options.mcpConfig is deprecated: use options.mcpServers, which also accepts in-process servers',
    });
  }
  if (!options.canUseTool) return warnings;
  if (options.permissionMode === 'bypassPermissions') {
    warnings.push({
      code: 'TOOLPLANE_CAN_USE_TOOL_SHADOWED',
      message:
        "options.canUseTool will not be called: permissionMode 'bypassPermissions' allows every call. Use a PreToolUse hook to see every call",
    });
    return warnings;
  }
  const whole = (options.allowedTools ?? []).filter((rule) => /^[^()]+(\(\*?\))?$/.test(rule));
  if (whole.length > 0) {
    warnings.push({
      code: 'TOOLPLANE_CAN_USE_TOOL_SHADOWED',
      message: `options.canUseTool will not be called for ${[...new Set(whole)].join(', ')}: allowedTools allows every call of these tools. Remove them from allowedTools, or use a PreToolUse hook`,
    });
  }
  return warnings;
}
