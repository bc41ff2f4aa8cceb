import { expect, test } from 'vitest';
import { checkHostOptions } from '../../src/host/check-host-options.ts';

test.each([
  [{}],
  [{ mcpServers: { docs: { command: 7 } }, connectTimeoutMs: 1, heartbeatMs: 0, concurrency: { local: 1 } }],
  [{ callTimeoutMs: Number.POSITIVE_INFINITY, retry: { attempts: 0 }, cwd: undefined }],
])('these can be meant: %o', (options) => {
  expect(() => checkHostOptions(options)).not.toThrow();
});

test.each([
  [7, 'createHost() takes an object of options'],
  [{ mcpServers: [] }, '"mcpServers" must be an object of entries by their names'],
  [{ callTimeoutMs: 0 }, '"callTimeoutMs" must be a number above 0'],
  [{ callTimeoutMs: Number.NaN }, '"callTimeoutMs" must be a number above 0'],
  [{ heartbeatMs: -1 }, '"heartbeatMs" must be a number, 0 or more'],
  [{ conectTimeoutMs: 5 }, '"conectTimeoutMs" is no option; did you mean "connectTimeoutMs"?'],
  [{ concurrency: { remot: 5 } }, '"concurrency.remot" is no option; did you mean "concurrency.remote"?'],
  [{ retry: { firstMs: '1' } }, '"retry.firstMs" must be a number above 0'],
  [{ toString: 1 }, '"toString" is no option'],
])('%o is refused: %s', (options, message) => {
  expect(() => checkHostOptions(options)).toThrow(expect.objectContaining({ code: 'bad-config', message }));
});
