import { expect, test } from 'vitest';
import { checkHostOptions } from '../../src/host/check-host-options.ts';

test.each([
  [{}],
  [{ mcpServers: { docs: { command: 7 } }, connectTimeoutMs: 1, heartbeatMs: 0, concurrency: { local: 1 } }],
  [{ callTimeoutMs: Number.POSITIVE_INFINITY, retry: { attempts: 0 }, cwd: undefined }],
])('accepts %o', (options) => {
  expect(() => checkHostOptions(options)).not.toThrow();
});

test.each([
  [7, 'the options of createHost() must be an object'],
  [{ mcpServers: [] }, '"mcpServers" must be an object of server entries by name; it is a list of nothing'],
  [{ callTimeoutMs: 0 }, '"callTimeoutMs" must be a number above 0; it is 0'],
  [{ callTimeoutMs: Number.NaN }, '"callTimeoutMs" must be a number above 0; it is NaN'],
  [{ heartbeatMs: -1 }, '"heartbeatMs" must be a number, 0 or more; it is -1'],
  [{ conectTimeoutMs: 5 }, '"conectTimeoutMs" is not an option; did you mean "connectTimeoutMs"?'],
  [{ concurrency: { remot: 5 } }, '"concurrency.remot" is not an option; did you mean "remote"?'],
  [{ retry: { firstMs: '1' } }, '"retry.firstMs" must be a number above 0; it is "1"'],
  [{ toString: 1 }, '"toString" is not an option'],
])('rejects %o: %s', (options, message) => {
  expect(() => checkHostOptions(options)).toThrow(expect.objectContaining({ code: 'bad-config', message }));
});
