// Return values of handlers and the results that the model receives.
import assert from 'node:assert/strict';
import { toolServer } from 'toolplane';
import { z } from 'zod';

// #region returns
/** Handlers by the kind of value they return. */
const RETURNS: Record<string, () => unknown> = {
  'a string': () => 'text',
  'a number': () => 42,
  'a boolean': () => true,
  'a big integer': () => 2n ** 64n,
  'an object': () => ({ city: 'Oslo', degrees: -3 }),
  'an array': () => [1, 2, 3],
  'a map': () => new Map([['Oslo', -3]]),
  'a set': () => new Set(['Oslo', 'Rome']),
  nothing: () => undefined,
  null: () => null,
  'a whole result': () => ({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }),
  'a returned Error': () => new Error('no such city'),
  'a thrown Error': () => {
    throw new Error('no such city');
  },
  'a function': () => () => 'never sent',
};
// #endregion

const server = toolServer('returns');
for (const [what, handler] of Object.entries(RETURNS)) server.tool(what, `Returns ${what}`, {}, handler);

const table: Record<string, string> = {};
for (const { name } of server.tools) table[name] = JSON.stringify(await server.call(name));
for (const [what, result] of Object.entries(table)) console.log(`${what.padEnd(16)} ${result}`);

// #region output-schema
server.tool('weather', 'The weather', { city: z.string() }, ({ city }) => ({ city, degrees: -3 }), {
  outputSchema: { city: z.string(), degrees: z.number() },
});
const weather = await server.call('weather', { city: 'Oslo' });
// #endregion
console.log(`${'output schema'.padEnd(16)} ${JSON.stringify(weather)}`);

assert.equal(
  table['an object'],
  '{"content":[{"type":"text","text":"{\\"city\\":\\"Oslo\\",\\"degrees\\":-3}"}]}',
);
assert.equal(table.nothing, '{"content":[]}');
assert.equal(table['a thrown Error'], table['a returned Error']);
assert.deepEqual(weather.structuredContent, { city: 'Oslo', degrees: -3 });
