import { expect, test } from 'vitest';
import { readCitations } from '../../../scripts/docs/requirement-table.ts';
import { DECISIONS, REQUIREMENTS } from '../../../scripts/docs/requirements.ts';

const cited = readCitations();
const requirements = Object.values(REQUIREMENTS).flatMap((rows) => Object.entries(rows));

test('requirements are numbered without a gap', () => {
  const ids = requirements.map(([id]) => id);
  expect(ids).toEqual(ids.map((_, index) => `R${index + 1}`));
  expect(ids).toHaveLength(186);
});

test('every number that a test cites exists', () => {
  const known = new Set([...requirements.map(([id]) => id), ...Object.keys(DECISIONS)]);
  const unknown = [...cited].filter(([id]) => !known.has(id)).map(([id, files]) => `${id}: ${files}`);
  expect(unknown).toEqual([]);
});

test('every requirement without another fate is cited by a test', () => {
  const unproven = requirements.filter(([id, [, fate]]) => !fate && !cited.has(id)).map(([id]) => id);
  expect(unproven).toEqual([]);
});

test('a decision that replaces a requirement exists and is cited by a test', () => {
  const missing = requirements.flatMap(([id, [, fate]]) =>
    fate && 'decision' in fate && !(fate.decision in DECISIONS && cited.has(fate.decision))
      ? [`${id}: ${fate.decision}`]
      : [],
  );
  expect(missing).toEqual([]);
});

test('a requirement that is not supported or does not apply is cited by no test', () => {
  const cites = requirements.flatMap(([id, [, fate]]) =>
    fate && 'status' in fate ? (cited.get(id) ?? []).map((file) => `${file}: ${id}`) : [],
  );
  expect(cites).toEqual([]);
});
