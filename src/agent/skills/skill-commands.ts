import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { within } from '../../base/async/timers.ts';
import type { CertainEffect } from '../../permissions/commands/command-effect.ts';
import { type Decision, decide } from '../../permissions/decide.ts';
import type { Rule } from '../../permissions/rule.ts';
import { modeOf, type RuleStore } from '../../permissions/rule-store.ts';
import { certainEffect } from '../builtins/shell/certain-effect.ts';
import { OutputSpool } from '../builtins/shell/output-spool.ts';
import type { SessionContext } from '../calls/call-context.ts';
import { type ExpandedPart, MAX_COMMANDS } from './expand-skill.ts';

/** The parts of a session that commands and named files of a prompt need. */
export type PromptContext = Pick<
  SessionContext,
  'workspace' | 'env' | 'hooks' | 'files' | 'results' | 'mayBypass' | 'builtIns'
> & { readonly rules: Pick<RuleStore, 'current'> };

/** What the commands in a text may do. */
export type CommandRights = {
  /** Rules in addition to those of the session. */
  readonly rules: readonly Rule[];
  /** Whether commands that only read run without a rule. */
  readonly mayRead: boolean;
  /** Why commands without a rule do not run. */
  readonly refusal?: string | undefined;
};

const COMMAND_TIMEOUT_MS = 30_000;
/** Maximum number of characters of a text with the output of its commands; a longer text is refused. */
const MAX_TEXT = 400_000;

/** The text with the output of its commands, or why a command must not run or has failed. */
export async function runParts(
  parts: readonly ExpandedPart[],
  rights: CommandRights,
  context: PromptContext,
  signal: AbortSignal,
): Promise<{ readonly text: string } | { readonly fault: string }> {
  const commands = parts.filter(({ kind }) => kind === 'command');
  if (commands.length > MAX_COMMANDS)
    return {
      fault: `The skill or command has ${commands.length} shell commands; at most ${MAX_COMMANDS} are allowed.`,
    };
  const texts: string[] = [];
  for (const part of parts) {
    if (part.kind === 'text') texts.push(part.text);
    else {
      const refusal = await refusalOf(part.command, rights, context, signal);
      if (refusal !== undefined)
        return { fault: `Shell command permission check failed for pattern "${part.pattern}": ${refusal}` };
      const ended = await runCommand(part.command, context, signal);
      if ('fault' in ended)
        return { fault: `Shell command failed for pattern "${part.pattern}": ${ended.fault}` };
      texts.push(ended.output);
    }
  }
  const text = texts.join('');
  if (text.length <= MAX_TEXT) return { text };
  return {
    fault: `The skill or command, with the output of its shell commands, is longer than ${MAX_TEXT} characters; shorten it or print less.`,
  };
}

/** Why a command must not run: rules, the mode and hooks decide as for `Bash`, without a permission prompt. */
async function refusalOf(
  command: string,
  { rules, mayRead, refusal }: CommandRights,
  context: PromptContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!context.builtIns.some(({ listed }) => listed.name === 'Bash'))
    return 'the session does not offer Bash';
  const call = { name: 'Bash', input: { command } };
  const effect = mayRead ? await certainEffect(command, context.workspace(), context.env) : undefined;
  const { kind, reason } = decideFor(call, { destructiveHint: true }, rules, context, effect);
  if (kind !== 'allow') return refusal ?? reason.text;
  const fields = { tool_name: 'Bash', tool_input: call.input, tool_use_id: `command_${randomUUID()}` };
  const hook = await context.hooks.run('PreToolUse', fields, signal);
  if (hook.stop !== undefined) return hook.stop;
  return hook.decision !== undefined && hook.decision !== 'allow'
    ? (hook.reason ?? 'a PreToolUse hook does not allow the command')
    : undefined;
}

/** Decides about a call that a prompt contains, as about a call of the model. */
export function decideFor(
  call: { readonly name: string; readonly input: Readonly<Record<string, unknown>> },
  annotations: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean },
  rules: readonly Rule[],
  { rules: store, mayBypass, workspace }: PromptContext,
  effect?: CertainEffect,
): Decision {
  const current = store.current();
  return decide({
    call,
    rules: [...current.rules, ...rules],
    mode: modeOf(current),
    ...(current.blocksOutside && { blocksOutside: current.blocksOutside }),
    bypassLaunched: mayBypass,
    trusted: true,
    annotations,
    ...(effect === 'reads' && { effect }),
    workspace: workspace(),
  });
}

async function runCommand(
  command: string,
  { workspace, env, results }: PromptContext,
  signal: AbortSignal,
): Promise<{ readonly output: string } | { readonly fault: string }> {
  const { ShellCommand } = await import('../builtins/shell/shell-command.ts');
  const output = new OutputSpool(join(results.store.directory, `${randomUUID()}.output`));
  const shell = new ShellCommand(command, { cwd: workspace().cwd, env, output });
  const isOver = await within(
    COMMAND_TIMEOUT_MS,
    shell.ended.then(() => {}),
    signal,
  ).then(
    () => true,
    () => false,
  );
  const end = await Promise.race([shell.ended, Promise.resolve(undefined)]);
  if (!isOver || !end) {
    await shell.stop();
    if (signal.aborted) return { fault: 'interrupted' };
    return { fault: `the command did not end within ${COMMAND_TIMEOUT_MS / 1000} s` };
  }
  const left = await shell.leftRunning();
  await left?.group.end();
  left?.release();
  if (end.kind === 'not-started') return { fault: end.fault };
  const text = output.head.replace(/\n+$/, '');
  if (end.kind === 'exited' && end.code === 0) return { output: text };
  const how = end.kind === 'exited' ? `exit code ${end.code}` : end.kind;
  return { fault: [how, text].filter((it) => it !== '').join('\n') };
}
