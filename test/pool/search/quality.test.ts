import { expect, test } from 'vitest';
import { ToolIndex } from '../../../src/pool/search/tool-index.ts';
import { catalogue, needs } from './catalogue.ts';

test.each([
  ['queries.json', 0.8, 0.88],
  ['unseen-queries.json', 0.65, 0.72],
])(
  'people find what they need among the tools of 141 real servers: %s',
  { timeout: 60_000 },
  async (file, atLeastFive, atLeastTen) => {
    const index = new ToolIndex();
    index.sync(catalogue());
    const asked = needs(file);
    let five = 0;
    let ten = 0;
    for (const { query, server, tools, also = [] } of asked) {
      const right = new Set([...tools.map((tool) => `${server}/${tool}`), ...also]);
      const hits = await index.search({ text: query, limit: 10 });
      const at = hits.findIndex(
        ({ tool: { origin } }) => origin.kind === 'mcp' && right.has(`${origin.server}/${origin.tool}`),
      );
      if (at >= 0 && at < 5) five += 1;
      if (at >= 0) ten += 1;
    }
    expect(five / asked.length).toBeGreaterThanOrEqual(atLeastFive);
    expect(ten / asked.length).toBeGreaterThanOrEqual(atLeastTen);
  },
);
