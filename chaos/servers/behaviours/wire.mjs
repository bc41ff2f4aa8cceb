// Faults in bytes and ids.
import { text, writeAll } from '../stdio-server.mjs';

const MEBI = 1 << 20;

export const wire = {
  'noise-on-stdout': (server) => {
    const noise = ['[info] request done', '{not json', '{"level":"info"}', '', '42', 'null', '"text"'];
    server.write = (line) => writeAll(`${noise.join('\n')}\n${line}${noise.join('\n')}\n`);
  },

  'banner-before-json': (server) => {
    writeAll('\u001b[1m  ___ \n | S |  Server 1.0\n  ---\u001b[0m\n\nListening on stdio.\n\n');
    server.write = (line) => writeAll(line);
  },

  'crlf-lines': (server) => {
    server.write = (line) => writeAll(line.replace('\n', '\r\n'));
  },

  '64-mb-line': (server) => {
    server.tools.set('big', { run: ({ mebibytes }) => text('x'.repeat(mebibytes * MEBI)) });
  },

  'byte-by-byte': (server) => {
    const waiting = [];
    const next = () => {
      writeAll(waiting.shift());
      if (waiting.length > 0) setImmediate(next);
    };
    server.write = (line) => {
      const bytes = [...Buffer.from(line)].map((byte) => Buffer.of(byte));
      const isIdle = waiting.length === 0;
      waiting.push(...bytes);
      if (isIdle) next();
    };
  },

  'invalid-utf-8': (server) => {
    server.tools.set('garble', {
      run: (_, { id }) => {
        const [before, after] = JSON.stringify({ jsonrpc: '2.0', id, result: text('a|b') }).split('|');
        writeAll(
          Buffer.concat([Buffer.from(before), Buffer.of(0xff, 0xfe, 0xc3), Buffer.from(`${after}\n`)]),
        );
      },
    });
  },

  'wrong-id': (server) => {
    server.tools.set('mistake', {
      run: (_, { id }) => {
        server.answer(Number(id) + 1, text('not yours'));
        server.answer(Number(id) + 1_000, text('not yours'));
      },
    });
  },

  'duplicate-answers': (server) => {
    server.tools.set('twice', {
      run: (args, { id }) => {
        server.answer(id, text(args.text));
        server.answer(id, text('second answer'));
        server.refuse(id, -32000, 'third answer');
      },
    });
  },

  'unknown-id': (server) => {
    server.tools.set('stray', {
      run: (args) => {
        server.answer(999_999, text('nobody asked'));
        server.answer('some-words', text('nobody asked'));
        server.send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'nobody asked' } });
        return text(args.text);
      },
    });
  },

  'out-of-order': (server) => {
    const waiting = [];
    server.tools.set('gather', {
      run: (args, { id }) => {
        waiting.push([id, args.text]);
        if (waiting.length < args.count) return;
        waiting.reverse();
        for (const [each, said] of waiting.splice(0)) server.answer(each, text(said));
      },
    });
  },

  // Allowed in this protocol version.
  'batch-answers': (server) => {
    const waiting = [];
    server.protocolVersion = '2025-03-26';
    server.tools.set('batch', {
      run: (args, { id }) => {
        waiting.push({ jsonrpc: '2.0', id, result: text(args.text) });
        if (waiting.length === args.count) server.send(waiting.splice(0));
      },
    });
  },
};
