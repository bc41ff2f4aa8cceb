import { describe, expect, test } from 'vitest';
import { calledTools, ToolDisclosure } from '../../../src/agent/calls/tool-disclosure.ts';
import { text, toolUse } from '../../../src/agent/models/scripted.ts';
import { toolServer } from '../../../src/tool-server/sdk-server.ts';
import { pool } from '../../pool/pool-of.ts';
import { collect } from '../../support/collect.ts';
import { allow, deny, drive, results } from '../../support/drive.ts';
import { fixture } from '../../support/fixture-server.ts';

describe('ToolDisclosure', () => {
  const names = (told: readonly { readonly name: string }[]) => told.map(({ name }) => name);
  const SOME = { s: ['a', 'b', 'z'] };

  test('loaded tools stay last and searchable', () => {
    const shelf = new ToolDisclosure(0);
    const all = pool(['ToolSearch'], SOME);
    shelf.load(['mcp__s__z']);
    shelf.disclose(all);
    shelf.load(['mcp__s__a']);
    shelf.disclose(all);
    shelf.load(['mcp__s__b']);
    const { disclosed: told, searchable } = shelf.disclose(all);
    expect(names(told)).toEqual(['ToolSearch', 'mcp__s__z', 'mcp__s__a', 'mcp__s__b']);
    expect(names(searchable)).toEqual(['mcp__s__a', 'mcp__s__b', 'mcp__s__z']);
  });

  test('divide() does not mark tools as sent', () => {
    const shelf = new ToolDisclosure(60);
    const few = pool(['ToolSearch'], { s: ['a'] });
    expect(names(shelf.divide(few).disclosed)).toContain('mcp__s__a');
    expect(names(shelf.divide(pool(['ToolSearch'], SOME)).disclosed)).toEqual(['ToolSearch']);
    shelf.disclose(few);
    expect(names(shelf.divide(pool(['ToolSearch'], SOME)).disclosed)).toEqual(['ToolSearch', 'mcp__s__a']);
  });

  test('returns the same value for the same pool until a tool is loaded', () => {
    const shelf = new ToolDisclosure(0);
    const all = pool(['ToolSearch'], SOME);
    const before = shelf.disclose(all);
    expect(shelf.disclose(all)).toBe(before);
    shelf.load(['mcp__s__a']);
    expect(shelf.disclose(all)).not.toBe(before);
  });

  test('a resumed conversation loads the tools that it called', () => {
    expect(
      calledTools([
        { role: 'user', content: [{ type: 'text', text: 'x' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'mcp__s__a', input: {} }] },
      ] as never),
    ).toEqual(['mcp__s__a']);
  });
});

describe('session tool search', () => {
  const weather = () =>
    toolServer('weather')
      .tool('forecast', 'The weather of the coming days for a town', {}, () => 'rain')
      .tool('alerts', 'Warnings of storms and floods', {}, () => 'none');
  const notes = () =>
    toolServer('notes')
      .tool('create_note', 'Writes a note', {}, () => 'written')
      .tool('pin_note', 'Keeps a note at the top', {}, () => 'pinned', { alwaysLoad: true });

  const SEARCHING = {
    builtIns: ['ToolSearch'],
    toolSearch: 'on' as const,
    rules: allow('mcp__weather', 'mcp__notes'),
  };
  const names = (request: { readonly tools: readonly { readonly name: string }[] } | undefined) =>
    request?.tools.map(({ name }) => name);

  test('above the budget the model gets ToolSearch, and found tools are appended to its tools', async () => {
    const { query, model } = drive(
      [
        toolUse('ToolSearch', { query: 'weather forecast', max_results: 1 }, 's'),
        toolUse('mcp__weather__forecast', {}, 'c'),
        text('ok'),
      ],
      { mcpServers: { weather: weather(), notes: notes() } },
      SEARCHING,
    );
    await collect(query);
    expect(model.requests.map(names)).toEqual([
      ['ToolSearch', 'mcp__notes__pin_note'],
      ['ToolSearch', 'mcp__notes__pin_note', 'mcp__weather__forecast'],
      ['ToolSearch', 'mcp__notes__pin_note', 'mcp__weather__forecast'],
    ]);
    expect(results(model.requests[2])).toEqual({
      s: 'These tools can be called from your next message on, best match first:\n- mcp__weather__forecast: The weather of the coming days for a town',
      c: 'rain',
    });
    const systems = new Set(model.requests.map(({ system }) => system));
    expect(systems.size).toBe(1);
    expect([...systems][0]).toContain(
      'mcp__notes__create_note, mcp__weather__alerts, mcp__weather__forecast',
    );
  });

  test('a deferred tool can be called by name and is sent from the next request on', async () => {
    const { query, model } = drive(
      [toolUse('mcp__notes__create_note', {}, 'c'), text('ok')],
      { mcpServers: { weather: weather(), notes: notes() } },
      SEARCHING,
    );
    await collect(query);
    expect(results(model.requests[1])).toEqual({ c: 'written' });
    expect(names(model.requests[1])).toEqual([
      'ToolSearch',
      'mcp__notes__pin_note',
      'mcp__notes__create_note',
    ]);
  });

  test('select: loads tools by name, with or without the prefix, and reports unknown names', async () => {
    const { query, model } = drive(
      [
        toolUse(
          'ToolSearch',
          { query: 'select:forecast,mcp__notes__create_note,mcp__notes__creat_note' },
          's',
        ),
        text('ok'),
      ],
      { mcpServers: { weather: weather(), notes: notes() } },
      SEARCHING,
    );
    await collect(query);
    expect(names(model.requests[1])).toEqual([
      'ToolSearch',
      'mcp__notes__pin_note',
      'mcp__weather__forecast',
      'mcp__notes__create_note',
    ]);
    expect(results(model.requests[1]).s).toContain(
      'There is no tool mcp__notes__creat_note; did you mean mcp__notes__create_note?',
    );
  });

  test('filters alone list tools by name, and an unknown server is reported', async () => {
    const { query, model } = drive(
      [
        toolUse('ToolSearch', { query: 'server:weather' }, 'f'),
        toolUse('ToolSearch', { query: 'server:wether rain' }, 'u'),
        toolUse('mcp__weather__forecas', {}, 'n'),
        text('ok'),
      ],
      { mcpServers: { weather: weather(), notes: notes() } },
      SEARCHING,
    );
    await collect(query);
    const told = results(model.requests[3]);
    expect(told.f).toMatch(/- mcp__weather__alerts: .*\n- mcp__weather__forecast: /);
    expect(told.u).toBe(
      '!No tool was found. There is no server wether; did you mean weather? Available servers: notes, weather.',
    );
    expect(told.n).toBe(
      '!<tool_use_error>Error: No such tool available: mcp__weather__forecas. Did you mean mcp__weather__forecast?</tool_use_error>',
    );
  });

  test('a denied tool is neither found nor loaded nor named', async () => {
    const { query, model } = drive(
      [
        toolUse('ToolSearch', { query: 'weather forecast' }, 's'),
        toolUse('ToolSearch', { query: 'select:mcp__weather__forecast' }, 'n'),
        toolUse('mcp__weather__forecast', {}, 'c'),
        text('ok'),
      ],
      { mcpServers: { weather: weather(), notes: notes() } },
      { ...SEARCHING, rules: deny('mcp__weather__forecast') },
    );
    await collect(query);
    expect(JSON.stringify(model.requests.map(({ tools, system }) => [tools, system]))).not.toContain(
      'forecast',
    );
    expect(results(model.requests[3])).toMatchObject({
      c: '!<tool_use_error>Error: No such tool available: mcp__weather__forecast</tool_use_error>',
    });
  });

  test.each([
    ['the search is off', { ...SEARCHING, toolSearch: 'off' as const }],
    ['the search is not among the tools', { ...SEARCHING, builtIns: [] }],
    ['the search is denied', { ...SEARCHING, rules: deny('ToolSearch') }],
    ['everything fits', { ...SEARCHING, toolSearch: { tokens: 100_000 } }],
    ['nothing is configured and a tenth of the window is enough', { builtIns: ['ToolSearch'] }],
  ])('all tools are sent if %s', async (_, host) => {
    const { query, model } = drive(
      [text('ok')],
      { mcpServers: { weather: weather(), notes: notes() } },
      host,
    );
    await collect(query);
    expect(names(model.requests[0])?.filter((name) => name !== 'ToolSearch')).toEqual([
      'mcp__notes__create_note',
      'mcp__notes__pin_note',
      'mcp__weather__alerts',
      'mcp__weather__forecast',
    ]);
  });

  test('connect_mcp: deferred tools are found in the next round, and nothing changes before them (R139, R140, R161)', async () => {
    const { query, model } = drive(
      [
        toolUse('connect_mcp', { name: 'fix' }, 'd'),
        toolUse('ToolSearch', { query: 'select:mcp__fix__echo' }, 's'),
        text('ok'),
      ],
      { mcpServers: { notes: notes() } },
      {
        builtIns: ['ToolSearch', 'connect_mcp'],
        toolSearch: { tokens: 150 },
        rules: allow('connect_mcp'),
        servers: { fix: fixture({ start: 'on-demand' }) },
      },
    );
    await collect(query);
    const told = model.requests.map(names);
    expect(told[0]).toEqual(['connect_mcp', 'ToolSearch', 'mcp__notes__create_note', 'mcp__notes__pin_note']);
    expect(told[1]).toEqual(told[0]);
    expect(told[2]).toEqual([...(told[0] ?? []), 'mcp__fix__echo']);
    expect(model.requests.map(({ tools }) => JSON.stringify(tools.slice(0, 4)))).toEqual(
      Array(3).fill(JSON.stringify(model.requests[0]?.tools)),
    );
    expect(results(model.requests[1]).d).toMatch(
      /^Connected to 'fix'. Discovered: .*mcp__fix__echo.*Use ToolSearch to find and load the tools$/,
    );
  });

  test('only loaded tools count in the context usage', async () => {
    const { query, model, session } = drive(
      [toolUse('ToolSearch', { query: 'select:mcp__weather__forecast' }, 's'), text('ok')],
      { mcpServers: { weather: weather() } },
      SEARCHING,
    );
    await collect(query);
    expect(model.requests).toHaveLength(2);
    expect(
      session()
        .disclosure.divide(session().pool())
        .disclosed.map(({ name }) => name),
    ).toContain('mcp__weather__forecast');
  });
});
