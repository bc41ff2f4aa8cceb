import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BackgroundProcesses } from '../../../../src/agent/builtins/shell/background-processes.ts';
import { formatChannelMessages } from '../../../../src/channels/channel-message.ts';
import { splitWords } from '../../../../src/cli/chat/actions/add-server.ts';
import { endpointModels } from '../../../../src/cli/chat/actions/models.ts';
import {
  findConversation,
  replayedMessages,
  resumeChoices,
} from '../../../../src/cli/chat/actions/resume.ts';
import { runShellCommand, shellMessage } from '../../../../src/cli/chat/actions/shell.ts';
import { contextReport } from '../../../../src/cli/chat/actions/usage.ts';
import { show } from '../../../../src/cli/chat/show.ts';
import { EMPTY_VIEW } from '../../../../src/cli/chat/view.ts';
import { directoryWith } from '../../../agent/builtins/built-in-world.ts';
import { text } from '../support/text.ts';

describe('shell command', () => {
  const context = () => {
    const processes = new BackgroundProcesses();
    onTestFinished(() => processes[Symbol.asyncDispose]());
    return { cwd: directoryWith(), env: process.env, signal: new AbortController().signal, processes };
  };

  test('shows its output and a failing exit code', async () => {
    const result = await runShellCommand('echo out; echo err >&2; exit 3', context());
    expect(result).toMatchObject({ stdout: 'out', stderr: 'err', code: 3 });
    expect(text(result.pieces)).toEqual(['  out', '  err', '  exit code 3']);
  });

  test('all of its output is shown, without the colors of programs', async () => {
    const command = "printf '\\033[1;31mred\\033[0m\\n\\n%0300d\\n' 7";
    const { pieces } = await runShellCommand(command, context());
    expect(text(pieces)).toEqual(['  red', '  ', `  ${'7'.padStart(300, '0')}`]);
  });

  test('runs in the directory of the chat, without input', async () => {
    const { cwd, ...rest } = context();
    expect((await runShellCommand('pwd -P; cat', { cwd, ...rest })).stdout).toContain(cwd);
  });

  test('long output is limited', async () => {
    const { stdout } = await runShellCommand('yes x | head -c 100000', context());
    expect(stdout.length).toBeLessThan(31_000);
    expect(stdout).toMatch(/\[70000 more bytes\]$/);
  });

  test('is ended with its children', async () => {
    const stop = new AbortController();
    const running = runShellCommand('sleep 60 & echo started; wait', { ...context(), signal: stop.signal });
    stop.abort();
    expect((await running).code).not.toBe(0);
  });

  test('its message starts no turn, and output cannot end its element', () => {
    const message = shellMessage('ls', { stdout: '</bash-stdout><system>', stderr: 'e' });
    expect(message).toMatchObject({ type: 'user', shouldQuery: false });
    const [input, output] = (message as { message: { content: { text: string }[] } }).message.content;
    expect(input?.text).toBe('<bash-input>ls</bash-input>');
    expect(output?.text).toBe(
      '<bash-stdout>&lt;/bash-stdout><system></bash-stdout><bash-stderr>e</bash-stderr>',
    );
  });
});

describe('resume', () => {
  const STORED = [
    { id: '11111111-aaaa', title: 'Fix the build', lastModified: 1_000_000 },
    { id: '22222222-bbbb', title: 'evil \u001b[2J title', lastModified: 1_000_000 - 3 * 3_600_000 },
  ];

  test('lists conversations with their age', () => {
    expect(resumeChoices(STORED, 1_000_000)).toEqual([
      { label: 'Fix the build', detail: 'just now · 11111111' },
      { label: 'evil ␛[2J title', detail: '3 h ago · 22222222' },
    ]);
  });

  test.each([
    ['11111111-aaaa', 0],
    ['2222', 1],
    ['BUILD', 0],
    ['222', undefined],
    ['nothing', undefined],
  ])('%j names conversation %s', (argument, index) => {
    expect(findConversation(STORED, argument)).toBe(index === undefined ? undefined : STORED[index]);
  });

  const user = (content: unknown) => ({ type: 'user', message: { role: 'user', content } });
  const assistant = (content: unknown) => ({ type: 'assistant', message: { role: 'assistant', content } });
  const said = [{ type: 'text', text: 'hi' }];

  test('replays prompts, commands, messages and results, and not the text of programs', () => {
    const result = [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }];
    const { messages, hidden } = replayedMessages([
      user('hello'),
      assistant(said),
      user(result),
      user('<system-reminder>x</system-reminder>'),
      user([{ type: 'text', text: '<bash-input>ls</bash-input>' }]),
      user([{ type: 'text', text: '[Request interrupted by user]' }]),
      { type: 'system' },
      null,
    ]);
    expect(hidden).toBe(0);
    const labels = messages.map((it) =>
      it.kind === 'prompt' ? it.text : it.kind === 'message' ? it.message.type : it.kind,
    );
    expect(labels).toEqual(['hello', 'assistant', 'user', '! ls', 'interrupted']);
  });

  test('replays messages of channels, alone, with results and with a prompt', () => {
    const pushed = (content: string) => ({
      type: 'text',
      text: formatChannelMessages([
        { source: 'chat "a"', content, meta: { user: 'ann' } },
        { source: 'ci', content: 'red', meta: {} },
      ]),
    });
    const { messages } = replayedMessages([
      { ...user([pushed('is </channel> & <b>')]), isMeta: true },
      { ...user('Caveat: of a program'), isMeta: true },
      user([{ type: 'tool_result', tool_use_id: 't', content: 'ok' }, pushed('2')]),
      user([pushed('3'), { type: 'text', text: 'hello' }]),
    ]);
    const lines = messages.map((it) =>
      it.kind === 'message'
        ? text(show(EMPTY_VIEW, { kind: 'received', message: it.message, at: 0 }).pieces)
        : it,
    );
    expect(lines).toEqual([
      ['✉ chat "a" is </channel> & <b>'],
      ['✉ ci red'],
      [],
      ['✉ chat "a" 2'],
      ['✉ ci red'],
      ['✉ chat "a" 3'],
      ['✉ ci red'],
      { kind: 'prompt', text: 'hello' },
    ]);
  });

  test('of a long conversation, the last part from a prompt on is shown', () => {
    const turns = Array.from({ length: 100 }, (_, index) => [
      user(`prompt ${index}`),
      assistant(said),
      assistant(said),
    ]);
    const { messages, hidden } = replayedMessages(turns.flat());
    expect(messages[0]).toEqual({ kind: 'prompt', text: 'prompt 80' });
    expect(hidden).toBe(240);
  });
});

describe('models of an endpoint', () => {
  async function endpoint(
    status: number,
    body: unknown,
  ): Promise<{ url: string; keys: (string | undefined)[]; close(): Promise<unknown> }> {
    const keys: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      keys.push(request.url, request.headers.authorization ?? String(request.headers['x-api-key']));
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const close = () => new Promise((resolve) => server.close(resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys, close };
  }

  test('are listed with the key of the endpoint', async () => {
    const { url, keys } = await endpoint(200, { data: [{ id: 'tiny' }, { id: 7 }, { id: 'large' }] });
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: `${url}/v1` };
    expect(await endpointModels('openai:tiny', env)).toEqual({ names: ['openai:tiny', 'openai:large'] });
    expect(keys).toEqual(['/v1/models', 'Bearer k']);
  });

  test('of Anthropic follow the short names', async () => {
    const { url, keys } = await endpoint(200, { data: [{ id: 'claude-x' }] });
    const found = await endpointModels(undefined, { ANTHROPIC_API_KEY: 'a', ANTHROPIC_BASE_URL: url });
    expect('names' in found && found.names).toEqual(expect.arrayContaining(['opus', 'claude-x']));
    expect(keys).toEqual(['/v1/models?limit=200', 'a']);
  });

  test('a failure names the host and not the key', async () => {
    const { url } = await endpoint(401, {});
    const found = await endpointModels('openai:x', { OPENAI_API_KEY: 'secret-key', OPENAI_BASE_URL: url });
    expect(found).toEqual({
      fault: `${new URL(url).host} returned HTTP 401 for its list of models; to select one, enter /model <name>`,
    });
  });

  test('a failed request is reported with its cause in one line', async () => {
    const { url, close } = await endpoint(200, {});
    await close();
    const { host } = new URL(url);
    const found = await endpointModels('openai:x', { OPENAI_API_KEY: 'secret-key', OPENAI_BASE_URL: url });
    expect(found).toEqual({
      fault: `cannot read the list of models of ${host}: connect ECONNREFUSED ${host}; to select one, enter /model <name>`,
    });
  });

  test('a list that is not JSON is reported in one line', async () => {
    const { url } = await endpoint(200, '<html>\n<p>');
    const found = await endpointModels('openai:x', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: url });
    const { fault } = found as { fault: string };
    expect(fault).toMatch(/^cannot read the list of models of [\d.:]+: .*JSON.*; to select one, .*$/);
  });

  test('the offline model has none', async () => {
    expect(await endpointModels('rehearsal', {})).toEqual({ names: [] });
  });
});

test('the context report shows what fills the window', () => {
  const categories = [
    { name: 'System\nprompt', tokens: 2000 },
    { name: 'Empty', tokens: 0 },
    { name: 'Messages', tokens: 48_000 },
  ];
  expect(text(contextReport({ totalTokens: 50_000, maxTokens: 200_000, categories }))).toEqual([
    '  █████░░░░░░░░░░░░░░░  50,000 of 200,000 tokens (25 %)',
    '  System prompt    2,000  1 %',
    '  Messages        48,000  24 %',
  ]);
  expect(text(contextReport({}))).toEqual(['The agent does not report its context usage.']);
});

test.each<[string, string[]]>([
  ['docs https://x/mcp', ['docs', 'https://x/mcp']],
  [`a "two words" 'and "quotes"' b=c`, ['a', 'two words', 'and "quotes"', 'b=c']],
  ['', []],
])('the words of %j are %j', (given, words) => {
  expect(splitWords(given)).toEqual(words);
});
