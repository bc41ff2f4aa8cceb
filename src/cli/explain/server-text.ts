import { isRecord } from '../../base/json-value.ts';
import { untoldWords } from '../../base/process/last-words.ts';
import {
  type ConnectionRow,
  type ServerExplanation,
  standText,
  type UseRow,
} from '../../config/explain/explanation.ts';

import { line, type Piece, type Tone } from '../chat/piece.ts';
import { many } from '../host/figures.ts';
import { limitSection } from './limit-text.ts';
import { answerLine, facts, nextLines, SIGNS, section } from './section.ts';

/** The whole derivation of one server, for people. */
export function serverText(it: ServerExplanation): Piece[] {
  const parts = [
    [answerLine(signOf(it), it.answer)],
    sourceSection(it),
    section('entry, as written', it.entry ? entryRows(it.entry) : []),
    section(
      'changed by settings',
      it.settled.map(({ member, at }) => [member, standText(at)]),
    ),
    section('put in when it is started', it.expansion.map(useRow)),
    it.verdict === 'unknown' ? [] : standing(it),
    it.verdict === 'ready' ? limitSection(it.timeouts, 'brief') : [],
    section(
      'problems',
      [],
      it.lost.some(({ why }) => why === 'same-name')
        ? []
        : it.faults.filter((fault) => !it.answer.includes(fault)),
    ),
    nextLines(it.next),
  ];
  return parts
    .filter((part) => part.length > 0)
    .flatMap((part, at) => (at === 0 ? part : [line(''), ...part]));
}

/** All servers, a line each. */
export function serversText(all: readonly ServerExplanation[]): Piece[] {
  if (all.length === 0)
    return [line('There are no servers here.'), ...nextLines(['toolplane mcp add <name> -- <command>'])];
  return [
    ...all.map((it) => answerLine(signOf(it), it.answer)),
    line(''),
    ...nextLines(['toolplane explain server <name> tells the whole story of one']),
  ];
}

/** What a server is, in a sign. */
export function signOf({ standing, verdict }: ServerExplanation): readonly [string, Tone] {
  const waits = verdict === 'pending' || verdict === 'rejected' || verdict === 'disabled';
  return SIGNS[waits ? 'waiting' : standing];
}

function sourceSection({ sources }: ServerExplanation): Piece[] {
  const there = sources.filter(({ state }) => state !== 'absent');
  const absent = sources.filter(({ state }) => state === 'absent').map(({ label }) => label);
  return section(
    'sources, the highest first',
    there.map((row) => [
      row.has === 'winner' ? '→' : ' ',
      row.owner === undefined ? row.scope : `${row.scope} ${row.owner}`,
      standText(row),
      row.says,
    ]),
    absent.length === 0 ? [] : [`not there: ${absent.join(', ')}`],
  );
}

function entryRows(entry: Readonly<Record<string, unknown>>): string[][] {
  return Object.entries(entry).flatMap(([name, value]) => {
    if (isRecord(value)) {
      return Object.entries(value).map(([key, inner]) => [`${name}.${key}`, textOf(inner)]);
    }
    return [[name, textOf(value)]];
  });
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function useRow({ where, reference, from }: UseRow): string[] {
  const says = { value: 'is set', default: 'is not set, its default counts', missing: 'is NOT SET' }[from];
  return [where, reference, says];
}

function standing({ policy, approval, connection }: ServerExplanation): Piece[] {
  return facts([
    ['policy', policy.says],
    ['approval', approval.says],
    ['connection', connectionText(connection)],
  ]);
}

/** What came of the dial, on one line. */
export function connectionText(connection: ConnectionRow | 'not asked'): string {
  if (connection === 'not asked') return 'it was not dialled';
  const { state, lastError, serverInfo, era, protocolVersion, tools, stderr } = connection;
  if (state !== 'connected') {
    const words = untoldWords(lastError ?? '', stderr ?? []);
    const said = words === undefined ? '' : `; its last words: ${words}`;
    return `${state}${lastError === undefined ? '' : `: ${lastError}`}${said}`;
  }
  return [
    'connected',
    ...(serverInfo ? [`${serverInfo.name} ${serverInfo.version}`] : []),
    ...(era ? [`${era} protocol${protocolVersion === undefined ? '' : ` ${protocolVersion}`}`] : []),
    ...(tools === undefined ? [] : [many(tools, 'tool')]),
  ].join(', ');
}
