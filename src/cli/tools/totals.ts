import { textTokens } from '../../base/text/display-text.ts';
import type { Pool } from '../../pool/assemble.ts';
import { divide } from '../../pool/divide.ts';
import { priceList, priceOf } from '../../pool/price.ts';
import { sayDeferred } from '../../pool/say-deferred.ts';
import { toolBudget } from '../../pool/tool-budget.ts';
import type { ServerReport, Totals } from './report.ts';

/** The window that shares are told of. */
const WINDOW = 200_000;

/** `pool` has the search as its only built-in. */
export function totalsOf(servers: readonly ServerReport[], pool: Pool): Totals {
  const { total, builtIns } = priceList(pool);
  const { told, searchable } = divide(pool, 0, { names: new Set(), loaded: new Set() });
  const definitions = told.reduce((sum, tool) => sum + priceOf(tool), 0);
  return {
    servers: servers.length,
    connected: servers.filter(({ status }) => status === 'connected').length,
    tools: servers.reduce((sum, { tools }) => sum + tools.length, 0),
    tokens: total - builtIns,
    window: WINDOW,
    withToolSearch: definitions + textTokens(sayDeferred(searchable)),
    searchAbove: toolBudget(undefined, WINDOW),
  };
}
