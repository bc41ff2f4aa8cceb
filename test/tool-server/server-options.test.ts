import { expect, test } from 'vitest';
import { checkServerOptions, show } from '../../src/tool-server/server-options.ts';
import { tool } from '../../src/tool-server/tool.ts';

const t = tool('t', '', {}, () => 1);
const read = () => 'text';

test.each([
  [{ name: 'calc' }],
  [{ name: 'calc', version: '1', instructions: '', tools: [t], alwaysLoad: true, timeout: 0.5 }],
  [{ name: 'calc', strictProtocolErrors: false, emptyStubs: true, logging: true }],
  [{ name: 'calc', tools: undefined, tool: undefined, timeout: undefined }],
  [{ name: 'calc', resources: [{ uri: 'a://b', name: 'b', read }], prompts: [{ name: 'p', get: read }] }],
])('what a server may be made with: case %#', (options) => {
  expect(() => checkServerOptions(options as never)).not.toThrow();
});

test.each<[unknown, string]>([
  [undefined, 'A tool server needs a name, a non-empty string'],
  [{ name: '' }, 'A tool server needs a name, a non-empty string'],
  [{ name: 'calc', tool: [t] }, 'server "calc": "tool" is no option; did you mean "tools"?'],
  [{ name: 'calc', whatever: 1 }, 'server "calc": "whatever" is no option'],
  [{ name: 'calc', toString: 1 }, 'server "calc": "toString" is no option'],
  [{ name: 'calc', tools: t }, 'server "calc": tools must be a list; it is another object'],
  [{ name: 'calc', tools: [t, undefined] }, 'server "calc": tools[1] is undefined; pass what tool() returns'],
  [{ name: 'calc', tools: [read] }, 'server "calc": tools[0] is a function; pass what tool() returns'],
  [{ name: 'calc', version: 2 }, 'server "calc": version must be a string; it is 2'],
  [{ name: 'calc', logging: 'yes' }, 'server "calc": logging must be a boolean; it is yes'],
  [{ name: 'calc', timeout: 0 }, 'server "calc": timeout must be a number of milliseconds above 0; it is 0'],
  [
    { name: 'calc', timeout: '5' },
    'server "calc": timeout must be a number of milliseconds above 0; it is 5',
  ],
  [{ name: 'calc', resources: {} }, 'server "calc": resources must be a list; it is another object'],
  [{ name: 'calc', resources: [{ name: 'b', read }] }, 'server "calc": resources[0] needs "uri", a string'],
  [
    { name: 'calc', resources: [{ uri: 'a://b', read }] },
    'server "calc": resources[0] needs "name", a string',
  ],
  [
    { name: 'calc', resources: [{ uri: 'a://b', name: 'b' }] },
    'server "calc": resources[0] needs "read", a function',
  ],
  [{ name: 'calc', prompts: [undefined] }, 'server "calc": prompts[0] needs "name", a string'],
  [{ name: 'calc', prompts: [{ name: '', get: read }] }, 'server "calc": prompts[0] needs "name", a string'],
  [{ name: 'calc', prompts: [{ name: 'p' }] }, 'server "calc": prompts[0] needs "get", a function'],
])('what a server may not be made with: case %#', (options, message) => {
  expect(() => checkServerOptions(options as never)).toThrow(
    expect.objectContaining({ code: 'bad-server', message }),
  );
});

test.each([
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  [[1], 'a list'],
  [{}, 'another object'],
  [() => {}, 'a function'],
])('%o is shown as %s', (value, shown) => {
  expect(show(value)).toBe(shown);
});
