/** A transcript of the `claude` CLI, line by line; texts stand for damaged lines. */
type Lines = readonly (string | object)[];

const time = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
export const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

function record(n: number, parent: number | null, more: object): object {
  return {
    parentUuid: parent === null ? null : uuid(parent),
    isSidechain: false,
    uuid: uuid(n),
    timestamp: time(n),
    entrypoint: 'cli',
    cwd: '/home/ada/x',
    sessionId: 'SESSION',
    version: '2.1.325',
    gitBranch: 'main',
    ...more,
  };
}

function user(n: number, parent: number | null, content: unknown, more: object = {}): object {
  return record(n, parent, { type: 'user', message: { role: 'user', content }, ...more });
}

/** A reply; blocks of the same reply have the same id. */
function reply(
  n: number,
  parent: number | null,
  content: string | object,
  more: object = {},
  id = n,
): object {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : [content];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: 'm', content: blocks, usage };
  return record(n, parent, { type: 'assistant', message, ...more });
}

const call = (id: string) => ({ type: 'tool_use', id, name: 'X', input: {} });
const result = (id: string) => [{ type: 'tool_result', tool_use_id: id, content: id }];
const system = (n: number, parent: number | null, subtype: string, more: object = {}) =>
  record(n, parent, { type: 'system', subtype, content: 'note', ...more });
const answered = (content: unknown, more: object = {}): Lines => [
  user(1, null, content, more),
  reply(2, 1, 'x'),
];
const second = (first: unknown, more: object = {}): Lines => [
  user(1, null, first, more),
  user(2, 1, 'Real question'),
  reply(3, 2, 'x'),
];
const chat = [user(1, null, 'Hi'), reply(2, 1, 'Hello')];
const metadata = (type: string, member: string, value: string) => ({
  type,
  [member]: value,
  sessionId: 'SESSION',
});

/** Transcripts as the CLI writes them, and as crashes, old versions and hostile programs might leave them. */
export const TRANSCRIPTS: Readonly<Record<string, Lines>> = {
  'two turns': [...chat, user(3, 2, 'More'), reply(4, 3, 'Yes')],
  'text blocks': answered([
    { type: 'text', text: 'One' },
    { type: 'text', text: 'Two' },
  ]),
  'an image and text': answered([
    { type: 'image', source: {} },
    { type: 'text', text: 'See image' },
  ]),
  'only an image': answered([{ type: 'image', source: {} }]),
  'only a document': answered([{ type: 'document', source: {} }]),
  'a meta message first': second('Meta', { isMeta: true }),
  'a command': answered('<command-name>/foo</command-name>\n<command-args>bar</command-args>'),
  'a command, then a prompt': second('<command-name>/foo</command-name>'),
  'two commands': [
    user(1, null, '<command-name>/one</command-name>'),
    user(2, 1, '<command-name>/two</command-name>'),
  ],
  'output of a command': second('<local-command-stdout>out</local-command-stdout>'),
  'a shell command': answered('<bash-input>ls -la</bash-input>'),
  'an empty shell command': answered('<bash-input></bash-input>'),
  'an interrupted turn': second([{ type: 'text', text: '[Request interrupted by user]' }]),
  'a tag beside text': answered([
    { type: 'text', text: '<ide_opened_file>x</ide_opened_file>' },
    { type: 'text', text: 'Q' },
  ]),
  'a tag before text': answered('<ide_selection>x</ide_selection> then text'),
  'a tag with attributes': answered('<x-y attr="1">text'),
  'an unfinished tag': answered('<unclosed text'),
  'less-than signs': answered('<3 is not a tag'),
  'a capitalized tag': answered('<Foo>bar'),
  'a closing tag': answered('</a>'),
  'a notification': second('<task-notification>x</task-notification>', {
    origin: { kind: 'task-notification' },
  }),
  'a long prompt': answered('word '.repeat(100)),
  'a prompt of 200 characters': answered('a'.repeat(200)),
  'a prompt cut in an emoji': answered(`${'a'.repeat(199)}😀😀`),
  'line ends and tabs': answered('  a\n\n b\tc  '),
  'a blank prompt': second('   '),
  'no prompt': [reply(1, null, 'only me')],
  'a tool result first': second(result('t')),
  'a result beside text': second([...result('t'), { type: 'text', text: 'beside' }]),
  'a summary': [{ type: 'summary', summary: 'S', leafUuid: uuid(2) }, ...chat],
  'two summaries': [...chat, { type: 'summary', summary: 'S1' }, { type: 'summary', summary: 'S2' }],
  'a generated title': [...chat, metadata('ai-title', 'aiTitle', 'Generated')],
  titles: [
    ...chat,
    metadata('custom-title', 'customTitle', 'One'),
    metadata('ai-title', 'aiTitle', 'Generated'),
    metadata('custom-title', 'customTitle', 'Two'),
  ],
  'an emptied title': [
    ...chat,
    metadata('custom-title', 'customTitle', 'One'),
    metadata('custom-title', 'customTitle', ''),
  ],
  'a last prompt': [
    ...chat,
    { type: 'summary', summary: 'S' },
    metadata('last-prompt', 'lastPrompt', 'Last'),
  ],
  'a title and a last prompt': [
    ...chat,
    metadata('last-prompt', 'lastPrompt', 'Last'),
    metadata('ai-title', 'aiTitle', 'T'),
  ],
  'only a title': [metadata('custom-title', 'customTitle', 'Only')],
  'a title without a prompt': [reply(1, null, 'x'), metadata('custom-title', 'customTitle', 'Only')],
  tags: [...chat, metadata('tag', 'tag', 'one'), metadata('tag', 'tag', 'two')],
  'a removed tag': [...chat, metadata('tag', 'tag', 'one'), metadata('tag', 'tag', '')],
  'metadata in a text': answered('{"type":"tag","tag":"evil","customTitle":"evil"}'),
  'a sub-agent': [user(1, null, 'Side', { isSidechain: true }), reply(2, 1, 'x', { isSidechain: true })],
  'a sub-agent inside': [
    user(1, null, 'Main'),
    user(2, null, 'Side', { isSidechain: true }),
    reply(3, 2, 'side', { isSidechain: true }),
    reply(4, 1, 'main'),
  ],
  'a sub-agent at the end': [user(1, null, 'Main'), user(2, null, 'Side', { isSidechain: true })],
  'two branches': [...chat, user(3, 2, 'old'), reply(4, 3, 'old'), user(5, 2, 'new'), reply(6, 5, 'new')],
  'branches out of order': [
    ...chat,
    user(5, 2, 'new'),
    reply(6, 5, 'new'),
    user(3, 2, 'old'),
    reply(4, 3, 'old'),
  ],
  'an unanswered prompt': [...chat, user(3, 2, 'unanswered')],
  'a missing parent': [...chat, user(3, 99, 'lost'), reply(4, 3, 'lost')],
  'a cycle': [user(1, 2, 'Main'), reply(2, 1, 'A')],
  'a message that is its own parent': [user(1, 1, 'Main'), reply(2, 1, 'A')],
  'two roots': [...chat, user(3, null, 'Root'), reply(4, 3, 'B')],
  'a meta message at the end': [...chat, user(3, 2, 'Meta', { isMeta: true })],
  'a meta message as last root': [...chat, user(3, null, 'Meta', { isMeta: true })],
  'a meta message between': [...chat, user(3, 2, 'Meta', { isMeta: true }), reply(4, 3, 'y')],
  'two calls at once': [
    user(1, null, 'p'),
    reply(2, 1, call('a')),
    reply(3, 2, call('b'), {}, 2),
    user(4, 2, result('a')),
    user(5, 3, result('b')),
    reply(6, 5, 'done'),
  ],
  'two calls at once, the first finished last': [
    user(1, null, 'p'),
    reply(2, 1, call('a')),
    reply(3, 2, call('b'), {}, 2),
    user(5, 3, result('b')),
    user(4, 2, result('a')),
    reply(6, 4, 'done'),
  ],
  'three calls at once': [
    user(1, null, 'p'),
    reply(2, 1, call('a')),
    reply(3, 2, call('b'), {}, 2),
    reply(4, 3, call('c'), {}, 2),
    user(5, 2, result('a')),
    user(6, 3, result('b')),
    user(7, 4, result('c')),
    reply(8, 7, 'done'),
  ],
  'progress in between': [user(1, null, 'p'), record(2, 1, { type: 'progress', data: {} }), reply(3, 2, 'A')],
  attachments: [
    user(1, null, 'p'),
    record(2, 1, { type: 'attachment', attachment: {} }),
    reply(3, 2, 'A'),
    record(4, 3, { type: 'attachment', attachment: {} }),
  ],
  'system messages': [
    ...chat,
    system(3, 2, 'informational'),
    user(4, 3, 'q'),
    reply(5, 4, 'B'),
    system(6, 5, 'turn_duration'),
  ],
  'a compaction': [
    ...chat,
    system(3, null, 'compact_boundary', {
      logicalParentUuid: uuid(2),
      compactMetadata: { trigger: 'manual' },
    }),
    user(4, 3, 'The summary', { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
    user(5, 4, 'after'),
    reply(6, 5, 'B'),
  ],
  'a compaction that kept messages': [
    ...chat,
    user(3, 2, 'kept'),
    reply(4, 3, call('a')),
    user(5, 4, result('a')),
    reply(6, 5, 'Kept'),
    system(7, null, 'compact_boundary', {
      logicalParentUuid: uuid(6),
      compactMetadata: {
        trigger: 'auto',
        preTokens: 9,
        preservedSegment: { headUuid: uuid(3), anchorUuid: uuid(8), tailUuid: uuid(6) },
        preservedMessages: {
          anchorUuid: uuid(8),
          uuids: [3, 4, 5, 6].map(uuid),
          allUuids: [3, 4, 5, 6].map(uuid),
        },
      },
    }),
    user(8, 7, 'The summary', { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
    user(9, 8, 'after'),
    reply(10, 9, 'B'),
  ],
  'a summary first': [
    user(1, null, 'Sum', { isCompactSummary: true }),
    user(2, 1, 'after'),
    reply(3, 2, 'B'),
  ],
  'a team': answered('T', { teamName: 'x' }),
  'a prompt during a turn': [
    user(1, null, 'p'),
    reply(2, 1, call('a')),
    user(3, 2, result('a')),
    record(4, 3, {
      type: 'attachment',
      attachment: { type: 'queued_command', prompt: 'Queued', commandMode: 'prompt', source_uuid: uuid(40) },
    }),
    reply(5, 4, 'done'),
  ],
  'other prompts during a turn': [
    user(1, null, 'p'),
    ...[
      { prompt: [{ type: 'text', text: 'Blocks' }] },
      { prompt: 'Finished', commandMode: 'task-notification' },
      { prompt: 'Sent', origin: { kind: 'channel' } },
      { prompt: 'Meta', isMeta: true },
      {},
    ].map((more, at) =>
      record(at + 2, at + 1, {
        type: 'attachment',
        isMeta: true,
        attachment: { type: 'queued_command', ...more },
      }),
    ),
  ],
  'a failed request': [
    user(1, null, 'p'),
    reply(2, 1, 'API Error', { isApiErrorMessage: true }),
    user(3, 2, 'again'),
    reply(4, 3, 'done'),
  ],
  'references to tools': [
    user(1, null, 'p'),
    reply(2, 1, call('a')),
    user(3, 2, [
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference', tool_name: 'X' }] },
    ]),
    reply(4, 3, 'done'),
  ],
  'a truncated line': [...chat, '{"type":"user","uu'],
  'damaged lines': [user(1, null, 'Hi'), 'not json', '[]', '5', 'null', '', reply(2, 1, 'x')],
  'an empty line': [''],
  'messages without ids': [{ type: 'user', message: { role: 'user', content: 'No id' } }],
  'records without a message': [
    record(1, null, { type: 'user' }),
    user(2, 1, 'Hi'),
    record(3, 2, { type: 'assistant' }),
  ],
  'no time': answered('Hi', { timestamp: undefined }),
  'an invalid time': answered('Hi', { timestamp: 'soon' }),
  'no directory at first': answered('Hi', { cwd: undefined, gitBranch: undefined }),
  'another directory and branch later': [
    user(1, null, 'Hi'),
    reply(2, 1, 'x', { cwd: '/later', gitBranch: 'later' }),
  ],
  'an empty branch': [user(1, null, 'Hi', { gitBranch: '' })],
  'a program': answered('Hi', { entrypoint: 'sdk-ts' }),
  'a script': answered('Hi', { entrypoint: 'sdk-cli' }),
  'another session id': answered('Hi', { sessionId: 'other' }),
  'a message only for the transcript': answered('Hi', { isVisibleInTranscriptOnly: true }),
  'an id twice': [...chat, reply(2, 1, 'again')],
};

/** The session id of a transcript of the table. */
export const sessionOf = (name: string) => uuid(900_000 + Object.keys(TRANSCRIPTS).indexOf(name));

export function textOf(name: string): string {
  const lines = TRANSCRIPTS[name] ?? [];
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const isTorn = typeof lines.at(-1) === 'string' && lines.at(-1) !== '';
  return text.replaceAll('"SESSION"', JSON.stringify(sessionOf(name))) + (isTorn ? '' : '\n');
}
