import { expect, test } from 'vitest';
import { stem } from '../../../src/pool/search/stem.ts';

test.each([
  ['files', 'file', 'filed', 'filing'],
  ['move', 'moved', 'moving'],
  ['add', 'adds', 'added', 'adding'],
  ['fix', 'fixes', 'fixed', 'fixing'],
  ['deploy', 'deploys', 'deployed', 'deploying'],
  ['stop', 'stopped', 'stopping'],
  ['query', 'queries', 'queried', 'querying'],
  ['branch', 'branches', 'branching'],
  ['colour', 'color', 'colors'],
  ['organise', 'organize', 'organizing'],
  ['analyse', 'analyze', 'analysis', 'analyses'],
  ['cancel', 'cancelled', 'canceled', 'cancelling'],
  ['catalogue', 'catalog'],
  ['send', 'sent', 'sending'],
  ['index', 'indexes', 'indices'],
])('%s and its other forms meet', (...forms) => {
  expect(new Set(forms.map((form) => stem(form))).size).toBe(1);
});

test.each([
  ['status', 'state'],
  ['news', 'new'],
  ['setting', 'set'],
  ['string', 'stir'],
  ['address', 'add'],
])('%s and %s stay apart', (a, b) => {
  expect(stem(a)).not.toBe(stem(b));
});

test.each(['dns', 'v4', 'größe', '图'])('%s is left as it is', (word) => {
  expect(stem(word)).toBe(word);
});
