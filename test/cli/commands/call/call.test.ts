import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { CTRL_C } from '../../support/fake-terminal.ts';
import { BROKEN, config, EVERYTHING, filesystem, odd } from '../../support/real-servers.ts';
import { runCli } from '../../support/run-cli.ts';
import { hasScript, TerminalProcess } from '../../support/terminal-process.ts';

describe('call', () => {
  const ODD = ['call', '--mcp-config', config({ odd: odd(), broken: BROKEN }), 'odd'];

  function newDirectory(): string {
    const directory = mkdtempSync(join(tmpdir(), 'toolplane-call-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    return directory;
  }

  test('converts arguments by the schema of a published server', async () => {
    const call = ['call', '--mcp-config', config({ everything: EVERYTHING }), 'everything', 'get-sum'];
    expect(await runCli([...call, 'a=2', 'b=40'])).toEqual({
      code: 0,
      stdout: 'The sum of 2 and 40 is 42.\n',
      stderr: '',
    });
  });

  test('key=@file passes the content of the file', async () => {
    const directory = newDirectory();
    const text = join(directory, 'text.txt');
    writeFileSync(text, 'from a file\n');
    const path = join(directory, 'out.txt');
    const call = ['call', '--mcp-config', config({ files: filesystem(directory) }), 'files', 'write_file'];
    // The server writes only below the roots of its client: the working directory.
    const { code } = await runCli([...call, `path=${path}`, `content=@${text}`], '', { cwd: directory });
    expect({ code, written: readFileSync(path, 'utf8') }).toEqual({ code: 0, written: 'from a file\n' });
  });

  test('argument names cannot change the target of the call', async () => {
    const names = [
      '__proto__=1',
      'server=broken',
      'tool=fail',
      'name=fail',
      'constructor.prototype.x=2',
      'signal=x',
    ];
    const { code, stdout } = await runCli([...ODD, 'raw', ...names]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      '{"name":"raw","args":{"__proto__":1,"server":"broken","tool":"fail","name":"fail",' +
        '"constructor":{"prototype":{"x":2}},"signal":"x"}}\n',
    );
  });

  test('adds words to an object from stdin', async () => {
    const { stdout } = await runCli([...ODD, 'typed', '-', 'tags=b'], '{"count":1,"tags":["a"]}');
    expect(stdout).toBe('{"count":1,"tags":["b"]}\n');
  });

  test.each([
    ['text unchanged', ['paint'], { code: 0, stdout: 'plain \u001b[31mred\n', stderr: '' }],
    [
      'structured content if there is no text',
      ['structured'],
      { code: 0, stdout: '{\n  "total": 2\n}\n', stderr: '' },
    ],
    [
      'a failure of the tool on stderr, sanitized',
      ['fail'],
      { code: 1, stdout: '', stderr: 'toolplane: fail failed: it broke ␛[31mred\n' },
    ],
    [
      'an error of the server',
      ['refuse'],
      { code: 1, stdout: '', stderr: 'toolplane: server odd: not for you\n' },
    ],
  ])('prints %s', async (_, words, printed) => {
    expect(await runCli([...ODD, ...words])).toEqual(printed);
  });

  test('--json prints the result as received, also of a failure', async () => {
    const { code, stdout } = await runCli([...ODD, 'fail', '--json']);
    expect({ code, result: JSON.parse(stdout) }).toEqual({
      code: 1,
      result: { content: [{ type: 'text', text: 'it broke \u001b[31mred' }], isError: true },
    });
  });

  test('--output saves binary content to files', async () => {
    const directory = join(newDirectory(), 'new');
    const { stdout } = await runCli([...ODD, 'picture', '--output', directory]);
    const path = join(directory, 'picture-1.png');
    expect(stdout).toBe(`look:\n[image image/png, 6 bytes: ${path}]\n`);
    expect(readFileSync(path, 'utf8')).toBe('pixels');
  });

  test.each([
    [
      'an unknown tool',
      ['typd'],
      /^toolplane: server odd has no tool "typd"; did you mean "typed"\? \(available: raw, /,
    ],
    [
      'what is missing, of another type or unknown',
      ['typed', 'tags:=5', 'tag=a'],
      /^toolplane: odd typed: unknown argument "tag"; did you mean "tags"\?\ntoolplane: odd typed: missing argument "count" \(an integer\)\ntoolplane: odd typed: tags: must be a list, not 5\n$/,
    ],
  ])('%s is exit code 2 without a call', async (_, words, message) => {
    const { code, stdout, stderr } = await runCli([...ODD, ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test.each([
    ['a name it does not declare', ['dryRn=true'], 'unknown argument "dryRn"; did you mean "dryRun"?'],
    ['a type within a list', ['edits:=[{"to":5}]'], 'edits[0].to: must be a string, not 5'],
    ['what is missing within a list', ['edits:=[{}]'], 'edits[0]: missing argument "to" (a string)'],
  ])('%s prevents the call unless --unchecked is given', async (_, words, fault) => {
    const heard = join(newDirectory(), 'heard');
    const call = ['call', '--mcp-config', config({ odd: odd({ HEARD: heard }) }), 'odd', 'edit', ...words];
    const told = `toolplane: odd edit: ${fault}\n`;
    expect(await runCli(call)).toEqual({ code: 2, stdout: '', stderr: told });
    expect(readFileSync(heard, 'utf8')).not.toContain('tools/call');
    const unchecked = await runCli([...call, '--unchecked']);
    expect(unchecked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^edited \{/), stderr: told });
  });

  test('an unusable --output directory is reported before the call', async () => {
    const directory = newDirectory();
    const [heard, file] = [join(directory, 'heard'), join(directory, 'afile')];
    writeFileSync(file, '');
    const call = [
      'call',
      '--mcp-config',
      config({ odd: odd({ HEARD: heard }) }),
      'odd',
      'picture',
      '-o',
      file,
    ];
    const stderr = `toolplane: --output ${file} is not a directory\n`;
    expect(await runCli(call)).toEqual({ code: 2, stdout: '', stderr });
    expect(readFileSync(heard, 'utf8')).not.toContain('tools/call');
  });

  test('--output with --json saves files and lists their paths', async () => {
    const directory = newDirectory();
    const { code, stdout } = await runCli([...ODD, 'picture', '--json', '-o', directory]);
    const path = join(directory, 'picture-1.png');
    expect({ code, result: JSON.parse(stdout) }).toMatchObject({ code: 0, result: { files: [path] } });
    expect(readFileSync(path, 'utf8')).toBe('pixels');
  });

  test('an unknown server is exit code 2, a failed server 1', async () => {
    const servers = ['call', '--mcp-config', config({ broken: BROKEN })];
    const unknown = await runCli([...servers, 'brokn', 'x']);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "broken"?') });
    const failed = await runCli([...servers, 'broken', 'x']);
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('server broken: command not found'),
    });
  });

  test('--timeout cancels the call and notifies the server', async () => {
    const heard = join(newDirectory(), 'heard');
    const call = [
      'call',
      '--mcp-config',
      config({ odd: odd({ HEARD: heard }) }),
      'odd',
      'hang',
      '--timeout',
      '300',
    ];
    expect(await runCli(call)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'toolplane: odd hang timed out after 300 ms and was cancelled; increase --timeout\n',
    });
    expect(readFileSync(heard, 'utf8')).toMatch(/tools\/call\nnotifications\/cancelled\n/);
  });

  test.runIf(hasScript)('in a terminal, shows progress, and Ctrl-C cancels the call', async () => {
    const heard = join(newDirectory(), 'heard');
    const terminal = new TerminalProcess([
      'call',
      '--mcp-config',
      config({ odd: odd({ HEARD: heard }) }),
      'odd',
      'hang',
    ]);
    await terminal.until('odd hang ');
    await terminal.until('· ██░░░░░░░░ 25 % half ␛[2Jway');
    terminal.type(CTRL_C);
    expect(await terminal.closed).toEqual([130, null]);
    expect(existsSync(heard) && readFileSync(heard, 'utf8')).toContain('notifications/cancelled');
  });

  test.runIf(hasScript)('in a terminal, text is sanitized', async () => {
    const terminal = new TerminalProcess([...ODD, 'paint']);
    await terminal.until('plain ␛[31mred');
    expect(await terminal.closed).toEqual([0, null]);
  });

  const NAMED = ['call', '--mcp-config', config({ everything: EVERYTHING, odd: odd() })];

  test.each([
    ['the full name', ['mcp__everything__get-sum', 'a=2', 'b=40']],
    ['server and tool in one word', ['everything/get-sum', 'a=2', 'b=40']],
    ['JSON arguments', ['mcp__everything__get-sum', '{"a": 2, "b": 40}']],
  ])('calls a tool by one word: %s', async (_, words) => {
    expect(await runCli([...NAMED, ...words])).toMatchObject({
      code: 0,
      stdout: 'The sum of 2 and 40 is 42.\n',
    });
  });

  test.each([
    [['mcp__evrything__get-sum', 'a=2'], 'did you mean "mcp__everything__get-sum"?'],
    [['mcp__everything__get-smu'], 'did you mean "get-sum"?'],
    [['everything'], "missing required argument 'tool'"],
  ])('%j is refused with a suggestion', async (words, message) => {
    const { code, stderr } = await runCli([...NAMED, ...words]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  test.each([
    ['city=Rome count=2', '{"city":"Rome","count":2}'],
    ['count=many', '{"count":"many"}'],
    ['cty=Rome', '{"cty":"Rome"}'],
  ])('with an invalid schema, %s is sent without validation', async (words, sent) => {
    const call = ['call', '--mcp-config', config({ odd: odd({ MISSPELLED: '1' }) }), 'odd', 'misspelled'];
    const { code, stdout, stderr } = await runCli([...call, ...words.split(' ')]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${sent}\n` });
    expect(stderr).toBe(
      'toolplane: odd misspelled: the tool\'s input schema is invalid at properties.city.type ("strng"); ' +
        'arguments are sent without validation\n',
    );
  });
});

describe('call hostile', () => {
  const HOSTILE = {
    command: process.execPath,
    args: [fileURLToPath(new URL('../../fixtures/hostile-server.mjs', import.meta.url))],
    era: 'legacy' as const,
  };
  const SERVERS = ['--mcp-config', config({ hostile: HOSTILE })];
  const CALL = ['call', ...SERVERS, 'hostile'];

  test.each(['loop', 'double'])('an endless schema does not delay the call: %s', async (tool) => {
    expect(await runCli([...CALL, tool, 'a=1'])).toEqual({ code: 0, stdout: 'done\n', stderr: '' });
  });

  test.each([
    ['strings', 'hello\nb\n'],
    ['bare', '[content, unknown type]\n{"foo":"bar","toolResult":42}\n'],
    ['both', '[resource a://b text, 1 byte]\nT\n[resource a://b application/octet-stream, 3 bytes]\n'],
    ['weird', '[weird, unknown type]\n{"type":"weird","payload":"important"}\n'],
  ])('prints all content of an unusual result: %s', async (tool, stdout) => {
    expect(await runCli([...CALL, tool])).toEqual({ code: 0, stdout, stderr: '' });
  });

  test('a resource with text and data prints both, and --output saves the data', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'toolplane-hostile-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const read = ['resources', 'read', 'hostile', 'a://b', '-o', directory, ...SERVERS];
    const path = join(directory, 'hostile-1.bin');
    expect(await runCli(read)).toEqual({
      code: 0,
      stdout: `[resource a://b text, 1 byte]\nT\n[resource a://b application/octet-stream, 3 bytes: ${path}]\n`,
      stderr: '',
    });
    expect(readFileSync(path)).toEqual(Buffer.from([0, 0, 0]));
  });

  test('a result that is nested too deeply is reported as an error, also in JSON', async () => {
    const message =
      'MCP server "hostile": its response is nested more than 512 levels deep; return flatter data from the server';
    const stderr = `toolplane: ${message}\n`;
    expect(await runCli([...CALL, 'deep'])).toEqual({ code: 1, stdout: '', stderr });
    const { code, stdout } = await runCli([...CALL, 'deep', '--json']);
    expect({ code, said: JSON.parse(stdout) }).toEqual({
      code: 1,
      said: { error: expect.objectContaining({ message }) },
    });
  });
});

describe('call json', () => {
  const SERVERS = ['--mcp-config', config({ odd: odd(), broken: BROKEN })];
  const said = (text: string) => expect.stringContaining(text);

  test.each<[string, string[], number, object]>([
    [
      'an error of the server',
      ['call', 'odd', 'refuse'],
      1,
      { message: 'server odd: not for you', code: -32603 },
    ],
    [
      'a call that takes too long',
      ['call', 'odd', 'hang', '--timeout', '300'],
      1,
      { message: said('timed out after 300 ms'), code: 'timeout' },
    ],
    [
      'a tool that its server lists with a fault',
      ['call', 'odd', 'broken'],
      1,
      { message: said('tool "broken" cannot be called: "inputSchema"') },
    ],
    ['an unknown tool', ['call', 'odd', 'typd'], 2, { message: said('did you mean "typed"?') }],
    [
      'an unknown server',
      ['call', 'od', 'typed'],
      2,
      { message: 'unknown server "od" (known: odd, broken)' },
    ],
    [
      'a server that cannot be used',
      ['call', 'broken', 'x'],
      1,
      { message: said('server broken: command not found'), code: 'spawn-failed' },
    ],
    [
      'a tool that is not pending',
      ['tools', 'accept', 'none'],
      2,
      { message: said('is pending acceptance') },
    ],
  ])('with --json, %s is a document too', async (_, words, code, error) => {
    const { stdout, stderr, ...rest } = await runCli([...words, '--json', ...SERVERS]);
    expect({ ...rest, said: JSON.parse(stdout) }).toEqual({ code, said: { error } });
    expect(stderr).not.toBe('');
  });
});
