import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { characterPairs, joinedNames, splitWords, stem } from '../../../src/pool/search/tokenize.ts';

describe('split words', () => {
  test.each([
    ['create_pull_request', ['create', 'pull', 'request']],
    ['linear_getWorkflowStates', ['linear', 'get', 'workflow', 'states']],
    ['getURLForItems', ['get', 'url', 'for', 'items']],
    ['TwilioApiV2010--CreateMessage', ['twilio', 'api', 'v2010', 'create', 'message']],
    ['move-rename-onedrive-item', ['move', 'rename', 'onedrive', 'item']],
    ['d1_query, ipv6', ['d1', 'query', 'ipv6']],
    ["the user's files aren't", ['the', 'user', 'files', 'arent']],
    ["What's new? I don’t know, John's in", ['whats', 'new', 'i', 'dont', 'know', 'john', 'in']],
    ['URLs of APIs, getIDs', ['url', 'of', 'api', 'get', 'id']],
    ['Übernimm größere Änderungen', ['übernimm', 'größere', 'änderungen']],
    ['LINEの友だち全員に', ['line', 'の友だち全員に']],
    ['ｆｕｌｌ width', ['full', 'width']],
    ['', []],
  ])('%s comes apart', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });

  test('names of several words are also known as one', () => {
    expect(joinedNames('a GitHub repo in PostgreSQL')).toEqual(['github', 'postgresql']);
    expect(joinedNames('SQLite on an iPhone, in JSON, by getItems')).toEqual(['sqlite', 'iphone']);
  });

  test.each([
    ['天安门', ['天安', '安门']],
    ['图', ['图']],
    ['', []],
  ])('%s is compared by pairs of characters', (run, pairs) => {
    expect(characterPairs(run)).toEqual(pairs);
  });

  test('no text breaks it, and nothing that comes out is empty or holds a space', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        for (const word of splitWords(text)) expect(word).toMatch(/^\S+$/u);
      }),
    );
  });
});

describe('stem', () => {
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

  test.each(['dns', 'v4', 'größe', '图'])('%s is left unchanged', (word) => {
    expect(stem(word)).toBe(word);
  });
});
