import { setTimeout as sleep } from 'node:timers/promises';
import type { Session } from '../contender.ts';
import type { Faults } from '../fault.ts';
import { answers, check, eventually, outcome, textOf } from '../judge.ts';

const ODD_NAMES = ['a.b:c d', '../etc/passwd', 'größe', '工具', 'constructor', '__proto__', 'x'.repeat(300)];

/** Faults in tool lists. */
export const list: Faults = {
  'repeated-cursor': {
    holds: 'a list whose next page is always itself ends after at most 100 pages, and its tools can be used',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('repeated-cursor') });
      await answers(8_000, 'connecting', session.ready('a'));
      const tools = await answers(4_000, 'listing', session.tools('a'));
      check(tools.length === 1, `${tools.length} tools are listed instead of one`);
      await echo(session);
      const pages = stage.events.count('tools/list');
      check(pages <= 100, `${pages} pages were asked for`);
      return `${pages} pages asked for`;
    },
  },
  'endless-pages': {
    holds: 'an endless list is cut off in time, and the tools that arrived can be used',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('endless-pages') });
      await answers(10_000, 'connecting', session.ready('a'));
      await echo(session);
      const pages = stage.events.count('tools/list');
      return `${pages} pages asked for`;
    },
  },
  '5000-tools': {
    holds: '5,000 tools are listed within 5 s and can be called',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('5000-tools') });
      await answers(5_000, 'connecting', session.ready('a'));
      const tools = await answers(3_000, 'listing', session.tools('a'));
      check(tools.length === 5_001, `${tools.length} tools are listed`);
      const said = textOf(await answers(3_000, 'the call', session.call('a', 'tool-4999', {}, TWO)));
      check(said === 'i am 4999', `the answer is "${said}"`);
      return undefined;
    },
  },
  'bad-tool-among-good': {
    holds: 'invalid tools are left out; the others are listed and can be called',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('bad-tool-among-good') });
      await answers(6_000, 'connecting', session.ready('a'));
      const tools = await answers(3_000, 'listing', session.tools('a'));
      check(tools.includes('good') && tools.includes('echo'), `listed are ${tools.join(', ')}`);
      check(textOf(await session.call('a', 'good', {}, TWO)) === 'good', 'the answer is wrong');
      return `listed: ${tools.join(', ')}`;
    },
  },
  'list-changed-storm': {
    holds:
      '2,000 change notifications lead to at most 20 new listings, and the latest list is used in the end',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('list-changed-storm') });
      await answers(6_000, 'connecting', session.ready('a'));
      const before = stage.events.count('tools/list');
      await answers(4_000, 'the call', session.call('a', 'storm', { count: 2_000 }, TWO));
      await sleep(1_500);
      const lists = stage.events.count('tools/list') - before;
      check(lists <= 20, `${lists} lists were asked for`);
      const tools = await answers(3_000, 'listing', session.tools('a'));
      check(tools.includes('new'), 'the new tool is not listed');
      await echo(session);
      return `${lists} lists asked for`;
    },
  },
  'tools-vanish': {
    holds: 'a removed tool leaves the list within 3 s; a call of it is refused without side effects',
    async play(stage) {
      const session = stage.open({ a: stage.stdio('tools-vanish') });
      await answers(6_000, 'connecting', session.ready('a'));
      check((await session.tools('a')).includes('fading'), 'the tool was never listed');
      await session.call('a', 'shrink', {}, TWO);
      await eventually(3_000, 'the shorter list', async () =>
        check(!(await session.tools('a')).includes('fading'), 'the tool is still listed'),
      );
      const came = await outcome(3_000, session.call('a', 'fading', {}, TWO));
      check(came.kind !== 'silent', 'nothing came of the call');
      if (came.kind === 'answered') check(came.value.isError === true, 'the tool still answers');
      await echo(session);
      return undefined;
    },
  },
  'name-with-odd-characters': {
    holds: 'tools are listed and called by the exact names their server gives them',
    async play(stage) {
      const env = { CHAOS_NAMES: JSON.stringify(ODD_NAMES) };
      const session = stage.open({ a: stage.stdio('odd-names', { env }) });
      await answers(6_000, 'connecting', session.ready('a'));
      const tools = await answers(3_000, 'listing', session.tools('a'));
      for (const name of ODD_NAMES) {
        check(tools.includes(name), `"${name}" is not listed`);
        check(textOf(await session.call('a', name, {}, TWO)) === name, `"${name}" answers for another`);
      }
      return undefined;
    },
  },
};

const TWO = { timeoutMs: 2_000 };

async function echo(session: Session): Promise<void> {
  const said = textOf(await answers(3_000, 'a call', session.call('a', 'echo', { text: 'hi' }, TWO)));
  check(said === 'hi', `the answer is "${said}"`);
}
