import { describe, expect, test } from 'vitest';
import { failure, open } from '../../support/attempt.ts';
import { everything, script, testWorld } from '../../support/servers.ts';

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('R138 R153: a stdio server', () => {
  test('says who it is, answers calls and reports progress', async () => {
    await using far = await open(everything);
    const { connection } = far;
    expect(connection.serverInfo?.name).toMatch(/everything/);
    expect(connection.capabilities.tools).toBeDefined();
    expect(connection.instructions).toBeTypeOf('string');
    const sum = await connection.callTool('get-sum', { a: 2, b: 40 });
    expect(sum.content).toMatchObject([{ type: 'text', text: expect.stringContaining('42') }]);
    const steps: number[] = [];
    const long = { duration: 0.2, steps: 2 };
    await connection.callTool('trigger-long-running-operation', long, {
      onProgress: ({ progress }) => steps.push(progress),
    });
    // The official client may drop the last progress notification if the result arrives together with it.
    expect(steps[0]).toBe(1);
  });

  test('gets the least environment and what its entry says, nothing else', async () => {
    await using far = await open({ ...everything, env: { OWN: 'yes' } });
    const { content } = await far.connection.callTool('get-env', {});
    const env = JSON.parse((content as { text: string }[])[0]?.text as string) as Record<string, string>;
    expect(env).toMatchObject({ OWN: 'yes', HOME: '/nowhere' });
    const known = new Set(['PATH', 'HOME', 'OWN', '__CF_USER_TEXT_ENCODING']);
    expect(Object.keys(env).filter((key) => !known.has(key))).toEqual([]);
  });

  test('gets the password of a proxy, which is masked in what the server sends', async () => {
    const env = {
      PATH: process.env.PATH,
      HTTPS_PROXY: 'http://me:pr0xy-zq81@proxy.example:3128',
      npm_config_proxy: 'http://me:np0m-zq81@proxy.example:3128',
    };
    await using far = await open(everything, testWorld({ env }));
    const { content } = await far.connection.callTool('get-env', {});
    expect(JSON.stringify(content)).toContain('HTTPS_PROXY');
    expect(JSON.stringify(content)).not.toMatch(/pr0xy-zq81|np0m-zq81/);
  });

  test('that ends is heard of once, and calls are refused from then on', async () => {
    const pid = Promise.withResolvers<number>();
    const entry = script(`console.error(process.pid); import(${JSON.stringify(everything.args?.[0])})`);
    await using far = await open(
      entry,
      testWorld({ onStderr: (_server, line) => /^\d+$/.test(line) && pid.resolve(Number(line)) }),
    );
    const ended = Promise.withResolvers<void>();
    let heard = 0;
    far.connection.onClose(() => {
      heard++;
      ended.resolve();
    });
    process.kill(await pid.promise, 'SIGKILL');
    await ended.promise;
    await expect(far.connection.callTool('echo', {})).rejects.toMatchObject({
      code: 'closed',
      server: 'srv',
    });
    await far.connection.close();
    expect(heard).toBe(1);
  });

  test('whose command does not exist is named', async () => {
    const thrown = await failure({ command: '/no/such/binary' });
    expect(thrown).toMatchObject({
      name: 'HostError',
      code: 'spawn-failed',
      server: 'srv',
      message: expect.stringContaining('MCP server "srv": command not found: /no/such/binary'),
      cause: { code: 'ENOENT' },
    });
  });

  test('that ends before it is ready is quoted, without its secrets', async () => {
    const thrown = await failure(script('console.error("no config, token=abc123"); process.exit(3)'));
    expect(thrown).toMatchObject({
      code: 'spawn-failed',
      message:
        'MCP server "srv": its process exited before it was ready; stderr: no config, token=[redacted] | (exited with code 3); run its command by hand to see more; servers inherit only a few environment variables, so pass others with "env" in its entry (option -e NAME=\'${NAME}\' of toolplane mcp add)',
    });
  });

  test('that misses a variable of the host is told with what passes it on, and gets it by inheritEnv', async () => {
    const code = `if (!process.env.WEATHER_API_KEY) throw new Error('WEATHER_API_KEY is required')`;
    const world = testWorld({ env: { ...process.env, WEATHER_API_KEY: 'key-of-weather-42' } });
    expect(await failure(script(code), world)).toMatchObject({
      code: 'spawn-failed',
      message: expect.stringContaining(
        "pass it on with the option -e WEATHER_API_KEY='${WEATHER_API_KEY}' of toolplane mcp add, or",
      ),
    });
    const shown = script(`console.error(process.env.WEATHER_API_KEY.length, process.env.WEATHER_API_KEY)`);
    const thrown = await failure({ ...shown, inheritEnv: ['WEATHER_API_KEY'] }, world);
    expect(thrown).toMatchObject({ message: expect.stringContaining('stderr: 17 [redacted]') });
  });

  test('that says nothing is given up in time, and its process has ended', async () => {
    const pids: number[] = [];
    const world = testWorld({
      connectTimeoutMs: 1000,
      onStderr: (_server, line) => pids.push(Number(line)),
    });
    const thrown = await failure(script('console.error(process.pid); process.stdin.resume()'), world);
    expect(thrown).toMatchObject({ code: 'timeout', message: expect.stringContaining('within 1000 ms') });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('whose connect is aborted leaves no process behind', async () => {
    const abort = new AbortController();
    const pids: number[] = [];
    const world = testWorld({
      onStderr: (_server, line) => {
        pids.push(Number(line));
        abort.abort();
      },
    });
    const silent = script('console.error(process.pid); process.stdin.resume()');
    expect(await failure(silent, world, abort.signal)).toMatchObject({ name: 'AbortError' });
    expect(pids.map(isAlive)).toEqual([false]);
  });

  test('is not started when the signal has been aborted before', async () => {
    const thrown = await failure({ command: '/no/such/binary' }, testWorld(), AbortSignal.abort());
    expect(thrown).toMatchObject({ name: 'AbortError' });
  });
});

test('requests wait for a server that reads late, however much they are together', async () => {
  const entry = {
    ...script(`
      const say = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      const lines = require('node:readline').createInterface({ input: process.stdin });
      lines.on('line', (line) => {
        const { id, method, params } = JSON.parse(line);
        if (method === 'initialize') {
          say(id, { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo: { name: 'late', version: '1' } });
        } else if (method === 'tools/call') {
          say(id, { content: [{ type: 'text', text: String(params.arguments.text.length) }] });
        } else {
          process.stdin.pause();
          setTimeout(() => process.stdin.resume(), 300);
        }
      });
    `),
    era: 'legacy' as const,
    maxFrameBytes: 1_000_000,
  };
  await using far = await open(entry);
  const lengths = [3_000_000, 600_000, 600_000, 1];
  const calls: Promise<unknown>[] = [];
  for (const length of lengths) {
    calls.push(far.connection.callTool('t', { text: 'x'.repeat(length) }));
    await new Promise(setImmediate);
  }
  expect(await Promise.all(calls)).toMatchObject(
    lengths.map((length) => ({ content: [{ text: String(length) }] })),
  );
});
