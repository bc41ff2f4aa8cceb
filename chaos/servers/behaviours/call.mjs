// Faults during calls.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from '../stdio-server.mjs';

export const call = {
  'hang-at-call': (server) => {
    server.tools.set('hang', { run: () => server.note('called') });
  },

  late: (server) => {
    server.tools.set('late', {
      run: ({ ms }, { id }) => {
        server.note('called', { id });
        setTimeout(() => {
          server.answer(id, text('late'));
          server.note('answered late');
        }, ms);
      },
    });
  },

  'progress-extends': (server) => {
    server.tools.set('slow', {
      run: ({ steps, stepMs }, { id, params }) => {
        const progressToken = params._meta?.progressToken;
        let progress = 0;
        const timer = setInterval(() => {
          progress++;
          if (progressToken !== undefined)
            server.notify('notifications/progress', { progressToken, progress });
          if (progress < steps) return;
          clearInterval(timer);
          server.answer(id, text('done'));
        }, stepMs);
      },
    });
  },

  'progress-storm': (server) => {
    server.tools.set('storm', {
      run: ({ count }, { params }) => {
        const progressToken = params._meta?.progressToken ?? 'none';
        for (let progress = 1; progress <= count; progress++) {
          server.notify('notifications/progress', { progressToken, progress });
          server.notify('notifications/progress', { progressToken: 'nobody', progress });
          server.notify('notifications/message', { level: 'debug', data: `step ${progress}` });
        }
        return text('over');
      },
    });
  },

  'malformed-answers': (server) => {
    const answer =
      (rest) =>
      (_, { id }) =>
        server.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)}${rest}}\n`);
    server.tools.set('nothing', { run: answer('') });
    server.tools.set('null', { run: answer(',"result":null') });
    server.tools.set('bad-error', { run: answer(',"error":"no"') });
    server.tools.set('bad-content', { run: answer(',"result":{"content":"text"}') });
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    server.tools.set('deep', { run: answer(`,"result":{"content":[],"structuredContent":{"a":${deep}}}`) });
  },

  'asks-for-ping': (server) => {
    let call;
    server.tools.set('ask', {
      run: (_, { id }) => {
        call = id;
        server.send({ jsonrpc: '2.0', id: 'asked', method: 'ping' });
      },
    });
    server.intercept = ({ id, result }) => {
      if (id !== 'asked') return false;
      server.answer(call, text(result ? 'answered' : 'refused'));
      return true;
    };
  },

  'asks-for-sampling': (server) => {
    let call;
    server.tools.set('ask', {
      run: (_, { id }) => {
        call = id;
        const messages = [{ role: 'user', content: { type: 'text', text: 'hello' } }];
        const params = { messages, maxTokens: 10 };
        server.send({ jsonrpc: '2.0', id: 'asked', method: 'sampling/createMessage', params });
      },
    });
    server.intercept = ({ id, error, result }) => {
      if (id !== 'asked') return false;
      server.answer(call, text(JSON.stringify({ code: error?.code, isAnswered: result !== undefined })));
      return true;
    };
  },

  'dies-after-running': (server) => {
    server.tools.set('pay', {
      annotations: { destructiveHint: true },
      run: () => {
        server.note('executed');
        process.exit(5);
      },
    });
  },

  'dies-reading-once': (server) => {
    const mark = join(process.env.CHAOS_DIRECTORY, 'has-died');
    server.tools.set('peek', {
      annotations: { readOnlyHint: true },
      run: () => {
        if (existsSync(mark)) return text('seen');
        writeFileSync(mark, '');
        process.exit(5);
      },
    });
  },

  'prototype-pollution': (server) => {
    server.tools.set('pollute', {
      run: (args, { id }) => {
        const said = JSON.stringify(JSON.stringify(Object.keys(args)));
        const evil = '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';
        server.write(
          `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${evil},"_meta":{${evil}},` +
            `"content":[{"type":"text","text":${said},${evil}}],"structuredContent":{${evil},"fine":1}}}\n`,
        );
      },
    });
  },
};
