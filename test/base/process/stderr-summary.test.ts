import { expect, test } from 'vitest';
import { stderrDetail, summarizeStderr } from '../../../src/base/process/stderr-summary.ts';

test('joins the last five lines, each truncated', () => {
  const lines = Array.from({ length: 20 }, (_, n) => `line ${n} ${'x'.repeat(500)}`);
  const words = summarizeStderr([...lines, '(exited with code 3)']);
  expect(words.split(' | ')).toHaveLength(5);
  expect(words.length).toBeLessThan(600);
  expect(words.endsWith('| (exited with code 3)')).toBe(true);
});

const NODE_STACK = `    at Module._resolveFilename (node:internal/modules/cjs/loader:1564:15)
    at wrapResolveFilename (node:internal/modules/cjs/loader:1118:27)
    at Module._load (node:internal/modules/cjs/loader:1341:5)
    at wrapModuleLoad (node:internal/modules/cjs/loader:261:19)
    at Module.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:154:5)
    at node:internal/main/run_main_module:33:47`;

/** Real stderr output of these programs, and its summary. */
const SAID: [what: string, stderr: string, words: string][] = [
  [
    'node: there is no such file',
    `node:internal/modules/cjs/loader:1568
  throw err;
  ^

Error: Cannot find module '/srv/server.js'
${NODE_STACK} {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v24.21.0`,
    "Error: Cannot find module '/srv/server.js'",
  ],
  [
    'node: it needs what is not installed',
    `node:internal/modules/package_json_reader:331
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/server.mjs
    at Object.getPackageJSONURL (node:internal/modules/package_json_reader:331:9)
    at ModuleLoader.resolveSync (node:internal/modules/esm/loader:763:56)
    at #resolve (node:internal/modules/esm/loader:687:17)
    at ModuleJob.syncLink (node:internal/modules/esm/module_job:276:33) {
  code: 'ERR_MODULE_NOT_FOUND'
}

Node.js v24.21.0`,
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/server.mjs",
  ],
  [
    'node: it requires what is not installed',
    `node:internal/modules/cjs/loader:1568
  throw err;
  ^

Error: Cannot find module 'zod'
Require stack:
- /srv/lib/a.js
- /srv/server.js
${NODE_STACK} {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/srv/lib/a.js', '/srv/server.js' ]
}

Node.js v24.21.0`,
    "Error: Cannot find module 'zod' | Require stack: | - /srv/lib/a.js | - /srv/server.js",
  ],
  [
    'node: it is not JavaScript',
    `/srv/server.js:1
const a = ;
          ^

SyntaxError: Unexpected token ';'
    at wrapSafe (node:internal/modules/cjs/loader:1861:18)
${NODE_STACK}

Node.js v24.21.0`,
    "/srv/server.js:1 | SyntaxError: Unexpected token ';'",
  ],
  [
    'node: it throws',
    `listening soon
/srv/server.js:1
function go(){ throw new TypeError("bad: thing") }
               ^

TypeError: bad: thing
    at go (/srv/server.js:1:22)
    at Object.<anonymous> (/srv/server.js:2:1)
${NODE_STACK}

Node.js v24.21.0`,
    '/srv/server.js:1 | TypeError: bad: thing',
  ],
  [
    'node: what it throws has a cause',
    `/srv/server.js:1
throw e
^

Error: connect failed
    at Object.<anonymous> (/srv/server.js:1:11)
    ... 5 lines matching cause stack trace ...
    at node:internal/main/run_main_module:33:47 {
  code: 'X',
  [cause]: Error: ECONNREFUSED 127.0.0.1
      at Object.<anonymous> (/srv/server.js:1:47)
      at Module._compile (node:internal/modules/cjs/loader:1929:14)
      at Object..js (node:internal/modules/cjs/loader:2060:10)
      at Module.load (node:internal/modules/cjs/loader:1651:32)
      at Module._load (node:internal/modules/cjs/loader:1443:12)
}

Node.js v24.21.0`,
    '/srv/server.js:1 | Error: connect failed | [cause]: Error: ECONNREFUSED 127.0.0.1',
  ],
  [
    'node: it throws what is no error',
    `
/srv/server.js:1
throw { code: 1 }
^
{ code: 1 }

Node.js v24.21.0`,
    '/srv/server.js:1 | throw { code: 1 } | { code: 1 }',
  ],
  [
    'python: a module is missing',
    `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import nope
ModuleNotFoundError: No module named 'nope'`,
    'File "/srv/server.py", line 1, in <module> | ModuleNotFoundError: No module named \'nope\'',
  ],
  [
    'python: one error after another',
    `Traceback (most recent call last):
  File "/srv/server.py", line 4, in <module>
    f()
  File "/srv/server.py", line 2, in f
    raise ValueError("x")
ValueError: x

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/server.py", line 6, in <module>
    raise RuntimeError("no config") from e
RuntimeError: no config`,
    'File "/srv/server.py", line 6, in <module> | RuntimeError: no config',
  ],
  [
    'python: it is not Python',
    `  File "/srv/server.py", line 1
    def f(:
          ^
SyntaxError: invalid syntax`,
    'File "/srv/server.py", line 1 | SyntaxError: invalid syntax',
  ],
  [
    'python: there is no such file',
    "python3: can't open file '/srv/server.py': [Errno 2] No such file or directory",
    "python3: can't open file '/srv/server.py': [Errno 2] No such file or directory",
  ],
  [
    'npx: there is no such package',
    `npm warn Unknown user config "nodedir". This will stop working in the next major version of npm.
npm error code E404
npm error 404 Not Found - GET https://registry.example.com/no-such-package - Not found
npm error 404
npm error 404  The requested resource 'no-such-package@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/ada/.npm/_logs/2026-11-15T20_48_14_086Z-debug-0.log`,
    "npm error code E404 | npm error 404 Not Found - GET https://registry.example.com/no-such-package - Not found | npm error 404  The requested resource 'no-such-package@*' could not be found or you do not have permission to access it.",
  ],
  ['its own words', 'Missing API key: set GITHUB_TOKEN', 'Missing API key: set GITHUB_TOKEN'],
];

test.each(SAID)('%s: includes the error and the exit', (_, stderr, words) => {
  const ending = '(exited with code 1)';
  expect(summarizeStderr([...stderr.split('\n'), ending])).toBe(`${words} | ${ending}`);
  expect(summarizeStderr(stderr.split('\n'))).toBe(words);
});

test('includes an error above later output, and always the last line', () => {
  const after = Array.from({ length: 12 }, (_, n) => `closing ${n}`);
  expect(summarizeStderr(['Error: no database', ...after])).toBe(
    'Error: no database | closing 8 | closing 9 | closing 10 | closing 11',
  );
});

test('falls back to the last lines if no line names an error', () => {
  expect(summarizeStderr(['}', 'Node.js v24.21.0'])).toBe('} | Node.js v24.21.0');
  expect(summarizeStderr([])).toBe('');
});

test.each([
  ['it stayed silent', ['no key'], 'no key'],
  [
    'it ended; stderr: Error: no key | (exited with code 1)',
    ['Error: no key', '}', 'Node.js v24.21.0'],
    undefined,
  ],
  ['it wants the word "no key"', ['no key'], undefined],
  ['it stayed silent', [], undefined],
])('%s after %j adds %j', (message, lines, words) => {
  expect(stderrDetail(message, lines)).toBe(words);
});
