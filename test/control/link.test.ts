import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type AgentLink, logFrames } from '../../src/control/link.ts';
import { memoryLinks } from '../../src/control/memory-link.ts';
import { spawnAgent, streamLink } from '../../src/control/process-link.ts';
import { ScriptedAgent } from '../../src/control/scripted-link.ts';
import { collect } from '../support/collect.ts';
import { FakeLink } from './fake-link.ts';

describe('link', () => {
  const AGENT = fileURLToPath(new URL('../support/fixtures/agent.mjs', import.meta.url));

  /** The far end of each link is an agent that echoes every frame, and closes when its input ends. */
  const LINKS: [string, () => AgentLink][] = [
    ['process', toProcess],
    ['memory', toMemory],
    ['scripted', toScript],
    ['stream', toStream],
    ['watched', () => logFrames(toScript(), () => {})],
  ];

  function toProcess(): AgentLink {
    const request = { command: process.execPath, args: [AGENT, 'echo'], env: {} };
    return spawnAgent(request, { maxLineLength: 10_000 });
  }

  function toMemory(): AgentLink {
    const { program, agent } = memoryLinks();
    const echo = async () => {
      for await (const frame of agent.frames) await agent.send(frame);
      await agent.close();
    };
    echo().catch(() => agent.close());
    return program;
  }

  function toStream(): AgentLink {
    const [input, output] = [new PassThrough(), new PassThrough()];
    output.pipe(input);
    return streamLink({ input, output }, { maxLineLength: 10_000 });
  }

  function toScript(): AgentLink {
    const agent = new ScriptedAgent();
    const echo = async () => {
      for (;;) agent.emit(await agent.take());
    };
    echo().catch(() => agent.leave());
    return agent.link;
  }

  describe.each(LINKS)('a %s link', (_kind, open) => {
    function start(): AgentLink {
      const link = open();
      onTestFinished(() => link.close());
      return link;
    }

    test('carries frames in order, to the end', async () => {
      const link = start();
      for (let n = 0; n < 10; n++) void link.send({ n });
      link.end();
      expect(await collect(link.frames)).toEqual(Array.from({ length: 10 }, (_, n) => ({ n })));
    });

    test('carries JSON values and shares no objects', async () => {
      const link = start();
      const frame = { at: new Date(0), gone: undefined, list: [undefined], text: 'é😀\u2028\n' };
      await link.send(frame);
      link.end();
      expect(await collect(link.frames)).toStrictEqual([
        { at: '1970-01-01T00:00:00.000Z', list: [null], text: 'é😀\u2028\n' },
      ]);
    });

    test('throws immediately for a frame that is not serializable, and continues', async () => {
      const link = start();
      expect(() => link.send({ n: 1n })).toThrow(expect.objectContaining({ code: 'unsendable' }));
      await link.send({ n: 1 });
      link.end();
      expect(await collect(link.frames)).toEqual([{ n: 1 }]);
    });

    test('rejects frames after its end without unhandled rejections', async () => {
      const link = start();
      link.end();
      void link.send({ n: 1 });
      await expect(link.send({ n: 2 })).rejects.toThrow();
      expect(await collect(link.frames)).toEqual([]);
    });

    test('can be closed more than once, and its frames end', async () => {
      const link = start();
      await Promise.all([link.close(), link.close()]);
      expect(await collect(link.frames)).toEqual([]);
    });
  });

  test('a failing in-memory agent: its frames arrive, then the error; later frames are dropped', async () => {
    const { program, agent, fail } = memoryLinks();
    await agent.send({ n: 1 });
    fail(new Error('out of luck'));
    await agent.send({ n: 2 });
    await program.send({ n: 3 });
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const frame of program.frames) seen.push(frame);
    })();
    await expect(reading).rejects.toThrow('out of luck');
    expect(seen).toEqual([{ n: 1 }]);
    expect(await collect(agent.frames)).toEqual([]);
  });

  test('a slow program holds the agent back once', async () => {
    const { program, agent } = memoryLinks();
    const { promise: until, resolve } = Promise.withResolvers<void>();
    const listening = vi.spyOn(until, 'then');
    for (let n = 0; n < 1000; n++) program.hold?.(until);
    expect(agent.room?.()).toBe(until);
    expect(listening).toHaveBeenCalledOnce();
    resolve();
    await until;
    expect(agent.room?.()).toBeUndefined();
  });
});

describe('logged link', () => {
  test('every frame is printed with its direction, secrets masked, and passes unchanged', async () => {
    const link = new FakeLink();
    const printed: string[] = [];
    const watched = logFrames(link, (line) => printed.push(line));
    const secret = { type: 'x', env: { KEY: 'hunter2' } };
    await watched.send(secret);
    link.say({ type: 'y', token: 'hunter2' });
    watched.end();
    link.frames.end();
    expect(await collect(watched.frames)).toEqual([{ type: 'y', token: 'hunter2' }]);
    expect(link.sent).toEqual([secret]);
    expect(printed).toEqual([
      '> {"type":"x","env":{"KEY":"[redacted]"}}',
      '> end',
      '< {"type":"y","token":"[redacted]"}',
      '< end',
    ]);
  });

  test('a link failure is printed and passed on; unserializable frames are rejected', async () => {
    const link = new FakeLink();
    const printed: string[] = [];
    const watched = logFrames(link, (line) => printed.push(line));
    expect(() => watched.send({ n: 1n })).toThrow(expect.objectContaining({ code: 'unsendable' }));
    link.frames.fail(new Error('died'));
    await expect(collect(watched.frames)).rejects.toThrow('died');
    await watched.close();
    expect(printed).toEqual(['< Error: died']);
  });

  test('control characters in frames and errors are escaped', async () => {
    const link = new FakeLink();
    const printed: string[] = [];
    const watched = logFrames(link, (line) => printed.push(line));
    const text = 'a\u009b2J\u001b[2J\u202eb\u2066\u200f\u061c\u200b\u200d\u2028\u0085\ufeff\u{e0041}';
    await watched.send({ type: text });
    link.say({ [text]: 1 });
    link.frames.fail(new Error(text));
    await expect(collect(watched.frames)).rejects.toThrow();
    expect(printed).toHaveLength(3);
    for (const line of printed)
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    expect(JSON.parse(printed[0]?.slice(2) ?? '')).toEqual({ type: text });
    expect(JSON.parse(printed[1]?.slice(2) ?? '')).toEqual({ [text]: 1 });
  });
});
