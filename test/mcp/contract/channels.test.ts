import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ChannelMessage } from '../../../src/entry/host.ts';
import { KEY, pair, textOf } from './support/drive.ts';
import { SET_UPS } from './support/set-ups.ts';

describe.concurrent.each(SET_UPS)('a channel over $name', (setUp) => {
  test('pushes messages in order, each once (R170, R171)', async () => {
    const received: ChannelMessage[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const channels = {
      servers: { [KEY]: true as const },
      directory: mkdtempSync(join(tmpdir(), 'contract-channels-')),
      onMessage: (message: ChannelMessage) => {
        received.push(message);
        if (message.id === 'last') resolve();
      },
    };
    await using both = await pair(setUp, { channels });
    for (const id of ['1', '2', '2', 'last'])
      expect(textOf(await both.host.callTool(KEY, 'push', { content: `<${id}>`, id }))).toBe('pushed');
    await done;
    expect(received.map(({ id, source, content }) => [id, source, content])).toEqual([
      ['1', KEY, '<1>'],
      ['2', KEY, '<2>'],
      ['last', KEY, '<last>'],
    ]);
    expect(received[0]?.text).toMatch(new RegExp(`<channel source="${KEY}" id="1">&lt;1&gt;</channel>$`));
  });
});
