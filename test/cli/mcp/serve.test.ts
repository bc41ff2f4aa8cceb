import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { Client as OlderClient } from '../../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js';
import { StdioClientTransport as OlderTransport } from '../../../interop/node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js';
import { type Access, servedDirectory, servedTools } from '../../../src/cli/mcp/serve.ts';
import { createHost } from '../../../src/entry/host.ts';
import { type ConfigPlace, configPlace } from '../../config/config-place.ts';
import { CLI } from '../../support/setup/built-package.ts';
import { CLI_ENV, runCli } from '../support/run-cli.ts';

describe('serve', () => {
  /** A project with files, a private file outside of it, and symbolic links to that file and its directory. */
  function servedPlace(): ConfigPlace {
    const place = configPlace();
    place.write(join(place.project, 'notes.txt'), 'first line\nneedle here\n');
    place.write(join(place.project, 'src/a.ts'), 'export const needle = 1;\n');
    place.write(join(place.project, '.git/config'), '[core]\n');
    place.write(join(place.userHome, 'private.txt'), 'needle of the person\n');
    symlinkSync(join(place.userHome, 'private.txt'), join(place.project, 'link.txt'));
    symlinkSync(place.userHome, join(place.project, 'outside'));
    return place;
  }

  function parameters({ env }: ConfigPlace, cwd: string, args: readonly string[]) {
    const PATH = CLI_ENV.PATH ?? '';
    return {
      command: process.execPath,
      args: [CLI, 'mcp', 'serve', ...args],
      env: { PATH, ...env },
      cwd,
      stderr: 'ignore' as const,
    };
  }

  async function connect(place: ConfigPlace, ...args: string[]): Promise<Client & AsyncDisposable> {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StdioClientTransport(parameters(place, place.project, args)));
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
  }

  type Answer = { content: { text?: string }[]; isError?: boolean };

  /** The text of a call’s result, with `!` in front of a failure. */
  async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
    const { content, isError } = (await client.callTool({ name, arguments: args })) as Answer;
    return `${isError ? '!' : ''}${content.map(({ text }) => text).join('')}`;
  }

  test('serves read-only tools by default, with annotations', async () => {
    const place = servedPlace();
    await using client = await connect(place);
    expect(client.getServerVersion()?.name).toBe('toolplane');
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual(
      [
        ['Read', 'Read a file'],
        ['Glob', 'Find files'],
        ['Grep', 'Search in files'],
      ].map(([name, title]) => [
        name,
        { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      ]),
    );
    expect(await call(client, 'Read', { file_path: 'notes.txt' })).toMatch(/1\tfirst line\n2\tneedle here/);
    expect(await call(client, 'Glob', { pattern: '**/*.ts' })).toBe('src/a.ts');
    expect((await call(client, 'Grep', { pattern: 'needle' })).split('\n').slice(1).sort()).toEqual([
      'notes.txt',
      'src/a.ts',
    ]);
    expect(await call(client, 'Write', { file_path: 'new.txt', content: 'x' })).toBe(
      "!Tool 'Write' not found",
    );
    expect(await call(client, 'Read', {})).toMatch(/^!.*file_path/);
  });

  test('denies paths outside the directory, also through links, and searches do not show them', async () => {
    const place = servedPlace();
    await using client = await connect(place, '--allow-writes');
    const outside = (given: string) =>
      `!${given} is outside ${place.project}; only files in this directory are served`;
    const secret = join(place.userHome, 'private.txt');
    for (const path of [
      secret,
      '../person/private.txt',
      '~/private.txt',
      'link.txt',
      'outside/private.txt',
    ]) {
      expect(await call(client, 'Read', { file_path: path })).toBe(outside(path));
      expect(await call(client, 'Write', { file_path: path, content: 'mine' })).toBe(outside(path));
      expect(await call(client, 'Grep', { pattern: 'needle', path })).toBe(outside(path));
    }
    for (const path of ['outside/new.txt', '../new.txt']) {
      expect(await call(client, 'Write', { file_path: path, content: 'mine' })).toBe(outside(path));
    }
    expect(await call(client, 'Glob', { pattern: '*.txt', path: 'outside' })).toBe(outside('outside'));
    expect(await call(client, 'Glob', { pattern: '**/*.txt' })).toBe('notes.txt');
    expect(await call(client, 'Glob', { pattern: '../**/*.txt' })).not.toContain('private');
    expect(await call(client, 'Grep', { pattern: 'of the person' })).toBe('No files found');
    expect(readFileSync(secret, 'utf8')).toBe('needle of the person\n');
    expect(existsSync(join(place.userHome, 'new.txt'))).toBe(false);
  });

  test('--allow-writes allows writes, except to files that control what is executed later', async () => {
    const place = servedPlace();
    await using client = await connect(place, '--allow-writes');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['Read', 'Glob', 'Grep', 'Edit', 'Write']);
    expect(tools.find(({ name }) => name === 'Edit')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
    });
    expect(await call(client, 'Write', { file_path: 'deep/new.txt', content: 'hello' })).toMatch(
      /^File created successfully at: /,
    );
    expect(readFileSync(join(place.project, 'deep/new.txt'), 'utf8')).toBe('hello');
    expect(
      await call(client, 'Edit', { file_path: 'notes.txt', old_string: 'first', new_string: '1st' }),
    ).toMatch(/^!.*has not been read/);
    await call(client, 'Read', { file_path: 'notes.txt' });
    expect(
      await call(client, 'Edit', { file_path: 'notes.txt', old_string: 'first', new_string: '1st' }),
    ).toMatch(/^The file .* has been updated/);
    symlinkSync('npm-settings', join(place.project, '.npmrc'));
    for (const path of ['.git/hooks/pre-commit', '.mcp.json', '.vscode/tasks.json', '.npmrc']) {
      expect(await call(client, 'Write', { file_path: path, content: 'x' })).toMatch(
        /^!.*controls what is executed later/,
      );
      expect(existsSync(join(place.project, path))).toBe(false);
    }
  });

  test('--allow-shell runs commands, and cancelling a call ends its command', async () => {
    const place = servedPlace();
    await using client = await connect(place, '--allow-shell', '--tools', 'Bash');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['Bash']);
    expect(await call(client, 'Bash', { command: 'pwd' })).toBe(place.project);
    const abort = new AbortController();
    const began = join(place.project, 'began');
    const command = `echo $$ > ${began}.draft; mv ${began}.draft ${began}; exec sleep 30`;
    const running = client.callTool({ name: 'Bash', arguments: { command } }, { signal: abort.signal });
    await expect.poll(() => existsSync(began), { timeout: 5000 }).toBe(true);
    abort.abort();
    await expect(running).rejects.toThrow();
    const sleeper = Number(readFileSync(began, 'utf8'));
    await expect.poll(() => isRunning(sleeper), { timeout: 5000 }).toBe(false);
  });

  function isRunning(pid: number): boolean {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }

  test('works with createHost()', async () => {
    const place = servedPlace();
    const { stderr: _, ...entry } = parameters(place, place.project, ['--tools', 'Read']);
    await using host = createHost({ mcpServers: { files: entry } });
    await host.ready();
    expect((await host.listTools()).map(({ name }) => name)).toEqual(['Read']);
    const result = await host.callTool('files', 'Read', { file_path: 'notes.txt' });
    expect(JSON.stringify(result)).toContain('needle here');
  });

  test('works with the client of the official SDK v1', async () => {
    const place = servedPlace();
    const client = new OlderClient({ name: 'older', version: '1.0.0' });
    await client.connect(new OlderTransport(parameters(place, place.project, [])));
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['Read', 'Glob', 'Grep']);
      const { content } = (await client.callTool({
        name: 'Glob',
        arguments: { pattern: '*.txt' },
      })) as Answer;
      expect(content[0]?.text).toBe('notes.txt');
    } finally {
      await client.close();
    }
  });

  test('returns an image as an image block', async () => {
    const place = servedPlace();
    const dot =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    writeFileSync(join(place.project, 'dot.png'), Buffer.from(dot, 'base64'));
    await using client = await connect(place);
    const { content } = await client.callTool({ name: 'Read', arguments: { file_path: 'dot.png' } });
    expect(content).toEqual([{ type: 'image', data: dot, mimeType: 'image/png' }]);
  });

  test('--cwd sets the directory; a missing file is an error result', async () => {
    const place = servedPlace();
    await using client = await connect(place, '--cwd', 'src');
    expect(await call(client, 'Glob', { pattern: '*' })).toBe('a.ts');
    expect(await call(client, 'Read', { file_path: '../notes.txt' })).toMatch(/^!.*is outside/);
    expect(await call(client, 'Read', { file_path: 'b.ts' })).toMatch(/^!.*does not exist/);
  });

  test.each([
    [
      'a tool that is not allowed',
      ['--tools', 'Read,Write'],
      /^toolplane: Write is not allowed; use --allow-writes to allow it/,
    ],
    ['a conflict of flags', ['--read-only', '--allow-writes'], /cannot be used with option/],
    ['a misspelt flag', ['--allow-write'], /Did you mean --allow-writes\?/],
  ])('%s is a usage error in one line with exit code 2', async (_, args, message) => {
    const place = servedPlace();
    const { code, stdout, stderr } = await runCli(['mcp', 'serve', ...args], '', {
      cwd: place.project,
      env: place.env,
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

describe('served', () => {
  const names = (allowed: readonly Access[], wanted?: readonly string[]) =>
    servedTools(allowed, wanted).map(({ listed }) => listed.name);

  test.each<[Access[], string[] | undefined, string[]]>([
    [[], undefined, ['Read', 'Glob', 'Grep']],
    [['writes'], undefined, ['Read', 'Glob', 'Grep', 'Edit', 'Write']],
    [['shell'], undefined, ['Read', 'Glob', 'Grep', 'Bash']],
    [['shell', 'writes'], undefined, ['Read', 'Glob', 'Grep', 'Edit', 'Write', 'Bash']],
    [[], ['Grep', 'Read', 'Grep'], ['Grep', 'Read']],
    [['shell'], ['Bash'], ['Bash']],
  ])('with %j allowed and %j requested, the tools are %j', (allowed, wanted, expected) => {
    expect(names(allowed, wanted)).toEqual(expected);
  });

  test.each([
    ['Write', 'Write is not allowed; use --allow-writes to allow it (see --help)'],
    ['Bash', 'Bash is not allowed; use --allow-shell to allow it (see --help)'],
    ['Task', 'unknown tool "Task" to serve (known: Read, Glob, Grep, Edit, Write, Bash)'],
    ['Reed', 'unknown tool "Reed" to serve; did you mean Read? (known: Read, Glob, Grep, Edit, Write, Bash)'],
    ['grep', 'unknown tool "grep" to serve; did you mean Grep? (known: Read, Glob, Grep, Edit, Write, Bash)'],
    ['', 'unknown tool "" to serve (known: Read, Glob, Grep, Edit, Write, Bash)'],
  ])('the tool %j is a usage error', (name, message) => {
    expect(() => names([], ['Read', name])).toThrow(message);
  });

  test('resolves links of the directory and rejects a path that is not a directory', () => {
    const { project, userHome: home } = configPlace();
    mkdirSync(join(project, 'src'));
    symlinkSync(join(project, 'src'), join(project, 'link'));
    writeFileSync(join(project, 'file'), '');
    const served = (given?: string, cwd = project) => servedDirectory({ given, cwd, home });
    expect(served()).toBe(project);
    expect(served('link')).toBe(join(project, 'src'));
    expect(served(home, '/')).toBe(home);
    expect(served('/')).toBe('/');
    expect(() => served('file')).toThrow('--cwd file is not a directory');
    expect(() => served('nowhere')).toThrow('--cwd nowhere is not a directory');
    expect(() => served(undefined, '/')).toThrow('the working directory is the root of the file system; set');
    expect(() => served(undefined, home)).toThrow('the working directory is your home directory; set');
  });
});
