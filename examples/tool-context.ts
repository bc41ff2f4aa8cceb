// What a handler is told about its call, and what a tool can declare about itself.
import assert from 'node:assert/strict';
import { tool, toolServer } from 'toolplane';
import { z } from 'zod';

// #region context
const copy = tool('copy', 'Copy files', { files: z.array(z.string()) }, async ({ files }, ctx) => {
  for (const [index, file] of files.entries()) {
    ctx.signal.throwIfAborted(); // the agent cancelled, the time limit passed, or the query closed
    ctx.log('debug', `copying ${file}`);
    ctx.progress(index + 1, { total: files.length, message: file });
  }
  return `${files.length} files copied by call ${ctx.toolUseId} of server "${ctx.server}"`;
});
// #endregion

// #region extras
const search = tool('search', 'Search the archive', { words: z.string() }, () => [], {
  title: 'Archive search',
  annotations: { readOnlyHint: true, openWorldHint: false },
  icons: [{ src: 'https://example.org/archive.png', mimeType: 'image/png' }],
  searchHint: 'papers letters documents', // words a tool search also finds it by
  alwaysLoad: true, // never behind a tool search
  maxResultSizeChars: 200_000, // how much of a result the model may get whole
  timeoutMs: 30_000, // a call that takes longer is a failed result
});
// #endregion

// #region call
const server = toolServer('archive');
server.add(copy, search);
const progress: string[] = [];
const result = await server.call(
  'copy',
  { files: ['a.txt', 'b.txt'] },
  {
    toolUseId: 'toolu_1',
    onProgress: ({ progress: done, total, message }) => progress.push(`${done}/${total} ${message}`),
    onLog: (level, data) => console.log(`[${level}] ${data}`),
  },
);
console.log(progress, result.content);

const cancelled = await server.call('copy', { files: ['a.txt'] }, { signal: AbortSignal.abort() });
console.log(cancelled);
// #endregion

assert.deepEqual(progress, ['1/2 a.txt', '2/2 b.txt']);
assert.equal(cancelled.isError, true);
assert.deepEqual(
  server.tools.map(({ name }) => name),
  ['copy', 'search'],
);

// #region time-limit
server.tool('sleep', 'Sleeps for ever', {}, () => new Promise(() => {}), { timeoutMs: 20 });
console.log(await server.call('sleep'));
// #endregion
