// Shell hooks as in a settings file.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query, type Settings } from 'toolplane';

const directory = await mkdtemp(join(tmpdir(), 'toolplane-example-'));

// #region settings
const settings: Settings = {
  permissions: { allow: ['Bash(echo *)', 'Bash(rm *)'] },
  hooks: {
    PreToolUse: [
      {
        matcher: 'Bash',
        hooks: [
          // The event is JSON on stdin. Exit code 2 blocks; stderr is the reason.
          {
            type: 'command',
            command: 'if grep -q "rm "; then echo "Deleting files is not allowed." >&2; exit 2; fi',
          },
        ],
      },
      // This guard is broken: it exits with neither 0 nor 2, so the call is denied.
      { matcher: 'Glob', hooks: [{ type: 'command', command: 'exit 7', timeout: 10 }] },
    ],
    // These hooks only observe; their failure does not stop the turn.
    PostToolUse: [{ hooks: [{ type: 'command', command: 'cat >> calls.log; echo >> calls.log' }] }],
  },
};
// #endregion

const conversation = query({
  prompt: `Call Bash with {"command": "echo hello"} then call Bash with {"command": "rm notes.txt"} then call Glob with {"pattern": "*"}`,
  options: {
    model: 'rehearsal',
    cwd: directory,
    settings,
    persistSession: false,
    onToolUse: ({ name, isError, result }) =>
      console.log(`${name} ${isError ? 'was refused' : 'ran'}: ${JSON.stringify(result)}`),
  },
});
for await (const _ of conversation);

const log = (await readFile(join(directory, 'calls.log'), 'utf8')).trim().split('\n');
const logged = log.map((line) => JSON.parse(line) as { hook_event_name: string; tool_input: object });
console.log(logged.map(({ hook_event_name, tool_input }) => ({ hook_event_name, tool_input })));
await rm(directory, { recursive: true });

assert.deepEqual(
  logged.map(({ tool_input }) => tool_input),
  [{ command: 'echo hello' }],
);
