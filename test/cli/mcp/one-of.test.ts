import { expect, test } from 'vitest';
import { transportName } from '../../../src/cli/mcp/add/transport.ts';
import { scopeName } from '../../../src/cli/mcp/one-of.ts';

test.each(['local', 'project', 'user'])('%s is a scope', (scope) => {
  expect(scopeName(scope)).toBe(scope);
});

test.each<[(value: string) => string, string, RegExp]>([
  [scopeName, 'proejct', /one of local, project, user; did you mean project\?$/],
  [scopeName, 'global', /did you mean user\?$/],
  [scopeName, 'managed', /one of local, project, user$/],
  [scopeName, 'constructor', /one of local, project, user$/],
  [transportName, 'htpp', /one of stdio, http, sse, ws; did you mean http\?$/],
  [transportName, 'streamable-http', /did you mean http\?$/],
  [transportName, 'sdk', /one of stdio, http, sse, ws/],
])('%o: %s is none, and what may be meant is told', (read, word, message) => {
  expect(() => read(word)).toThrow(message);
});
