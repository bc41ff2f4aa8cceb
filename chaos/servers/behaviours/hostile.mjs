// Messages that could harm a client.
import { text, writeAll } from '../stdio-server.mjs';

export const hostile = {
  'deep-noise': (server) => {
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    server.tools.set('noise', {
      run: (args) => {
        writeAll(`${deep}\n{"level":${deep}}\n`);
        return text(args.text);
      },
    });
  },

  // Sends the given text unchanged.
  parrot: (server) => {
    server.tools.set('say', {
      run: ({ lines }, { id, params }) => {
        const token = JSON.stringify(params._meta?.progressToken ?? 'none');
        for (const line of lines)
          writeAll(`${line.replaceAll('$ID', JSON.stringify(id)).replaceAll('$TOKEN', token)}\n`);
      },
    });
  },

  'request-flood': (server) => {
    const id = 'x'.repeat(4_000);
    const pings = Array.from({ length: 50 }, (_, i) => ({ jsonrpc: '2.0', id: `${id}${i}`, method: 'ping' }));
    const flood = pings.map((ping) => `${JSON.stringify(ping)}\n`).join('');
    const pour = () => (writeAll(flood) ? setImmediate(pour) : process.exit(0));
    server.tools.set('flood', {
      run: () => {
        process.stdin.pause();
        setImmediate(pour);
        return text('flooding');
      },
    });
  },
};
