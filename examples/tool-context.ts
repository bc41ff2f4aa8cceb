// The context of a handler, and the extras of a tool.
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
  searchHint: 'papers letters documents', // additional words for tool search
  alwaysLoad: true, // sent without tool search
  maxResultSizeChars: 200_000, // maximum size of a result that the model receives unshortened
  timeoutMs: 30_000, // a longer call becomes an error result
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
server.tool('sleep', 'Never returns', {}, () => new Promise(() => {}), { timeoutMs: 20 });
console.log(await server.call('sleep'));
// #endregion
