import { join } from 'node:path';
import { expect, test } from 'vitest';
import { homeContent } from '../../../src/cli/uninstall/home-parts.ts';
import { configPlace } from '../../host/config/config-place.ts';

const UUID = '6f2d1c1e-0b6a-4c57-9d0e-3a5d8c1b2f40';

test('what is ours is told by its name, with what cut-short writes left; everything else is another’s', () => {
  const { home, write } = configPlace();
  const ours = [
    'settings.json',
    'settings.json.lock',
    `settings.json.lock.${UUID}`,
    `.settings.json.${UUID}`,
  ];
  for (const name of [
    ...ours,
    'settings.json.bak',
    'cache/eras.json',
    'cache/other',
    'projects/mine/x',
    'pins',
  ]) {
    write(join(home, name), 'ten bytes.');
  }
  const at = (name: string) => join(home, name);
  expect(homeContent(home)).toEqual({
    parts: [
      {
        kind: 'settings',
        paths: ours.map(at).sort(),
        files: 4,
        bytes: 40,
        isConfigured: true,
      },
      {
        kind: 'cache',
        paths: [at('cache/eras.json')],
        directory: at('cache'),
        files: 1,
        bytes: 10,
        isConfigured: false,
      },
    ],
    others: [at('pins'), at('projects'), at('settings.json.bak'), at('cache/other')],
  });
});

test('where there is no home there is nothing', () => {
  expect(homeContent(configPlace().home)).toEqual({ parts: [], others: [] });
});
