// Start, life and end of server processes.
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { note, text, writeAll } from '../stdio-server.mjs';

export const life = {
  'crash-mid-call': (server) => {
    server.tools.set('crash', { run: () => process.exit(3) });
  },

  'crash-on-echo': (server) => {
    server.tools.set('echo', { run: () => process.exit(3) });
  },

  'crash-at-start': () => {
    note('started');
    writeAll('cannot start: GITHUB_TOKEN is not set\n', 2);
    process.exit(1);
  },

  'crash-loop': (server) => {
    server.methods.set('tools/list', () => {
      setTimeout(() => process.exit(4), 150);
      return { tools: server.definitions() };
    });
  },

  'exits-after-initialize': (server) => {
    server.methods.set('initialize', (params, message) => {
      server.answer(message.id, server.initialized(params));
      process.exit(0);
    });
  },

  'hang-at-initialize': (server) => {
    server.intercept = () => true;
  },

  'ignores-sigterm': (server) => {
    outlive(server);
    process.on('SIGTERM', () => note('sigterm'));
    process.on('SIGINT', () => note('sigint'));
    process.on('SIGHUP', () => note('sighup'));
  },

  'ignores-stdin-end': (server) => outlive(server),

  grandchildren: (server) => {
    server.tools.set('hire', {
      run: () => {
        spawn(process.execPath, [fileURLToPath(new URL('../helper.mjs', import.meta.url))], {
          stdio: 'ignore',
        });
        return text('hired');
      },
    });
  },

  'closes-stdout': (server) => {
    server.tools.set('mute', {
      run: () => {
        outlive(server);
        closeSync(1);
      },
    });
  },

  'closes-stdin': (server) => {
    server.tools.set('deaf', {
      run: () => {
        outlive(server);
        process.stdin.destroy();
        closeSync(0);
        return text('deaf');
      },
    });
  },

  'stops-reading': (server) => {
    server.tools.set('doze', {
      run: ({ ms }) => {
        process.stdin.pause();
        setTimeout(() => process.stdin.resume(), ms);
        return text('dozing');
      },
    });
  },

  'stderr-flood': (server) => {
    const flood = 'x'.repeat(1023);
    server.tools.set('flood', {
      run: ({ kib }) => {
        writeAll(`${flood}\n`.repeat(kib), 2);
        return text('flooded');
      },
    });
  },

  'tells-environment': (server) => {
    server.tools.set('environment', { run: () => text(JSON.stringify(process.env)) });
  },

  'refuses-the-probe': (server) => {
    let isFirst = true;
    server.intercept = ({ method }) => {
      if (isFirst && method !== 'initialize') process.exit(1);
      isFirst = false;
      return false;
    };
  },

  'silent-to-the-probe': (server) => {
    server.intercept = ({ method }) => method === 'server/discover';
  },
};

/** Keeps running after its stdin has ended. */
function outlive(server) {
  server.endsWithStdin = false;
  setTimeout(() => process.exit(99), 60_000);
}
