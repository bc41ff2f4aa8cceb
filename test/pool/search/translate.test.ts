import { expect, test } from 'vitest';
import { loadLexicon } from '../../../src/pool/search/lexicon.ts';
import { splitWords } from '../../../src/pool/search/tokenize.ts';
import { languageOf, translate } from '../../../src/pool/search/translate.ts';

const { dictionary } = await loadLexicon();

test.each([
  ['en', 'comment on a card'],
  ['en', 'list open issues'],
  ['de', 'Zeig mir die Protokolle des Pods'],
  ['fr', 'Crée un nouveau dossier nommé archives'],
  ['es', 'Busca en Notion la página sobre vacaciones'],
  ['pt', 'Mova o cartão para a lista de concluídos'],
  ['it', 'Metti in calendario una riunione domani alle 15'],
  ['nl', 'Voeg een taak toe aan mijn lijst'],
  ['ru', 'Покажи последние сообщения'],
  ['zh', '现在长安街堵不堵？'],
  ['ja', 'ファイルを一覧で見たい'],
  ['ko', '새 페이지를 만들어 줘'],
])('%s: %s', (language, text) => {
  const english = new Set(['comment', 'card', 'list', 'open', 'issues']);
  expect(languageOf(splitWords(text), dictionary, (word) => english.has(word))).toBe(language);
});

test.each([
  ['de', 'Lösche die Dateien', ['delete', 'file']],
  ['de', 'Kalenderordner', ['calendar', 'folder']],
  ['de', 'Kundenrechnung', ['customer', 'invoice']],
  ['fr', 'la base de données', ['database']],
  ['es', 'reuniones de mañana', ['meeting', 'tomorrow']],
  ['ru', 'Удалите файлы', ['delete', 'file']],
  ['zh', '删除文件', ['delete', 'file']],
  ['ja', '請求書を作成して', ['invoice', 'create']],
  ['ko', '파일을 삭제해 줘', ['file', 'delete']],
])('%s: %s means %j', (language, text, meant) => {
  const found = translate(splitWords(text), language, dictionary).flatMap(({ english }) => english);
  expect(found).toEqual(expect.arrayContaining(meant));
});

test('names within a sentence stay, and its small words go', () => {
  const found = translate(splitWords('Zeig mir die Karten in Trello'), 'de', dictionary);
  expect(found.map(({ word }) => word)).toEqual(['zeig', 'karten', 'trello']);
});
