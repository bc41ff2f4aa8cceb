import { describe, expect, test } from 'vitest';
import {
  CommandFailed,
  errorDocument,
  formatFailure,
  UsageError,
  wantsJson,
} from '../../../src/cli/output/failure.ts';
import { HostError, ServerFault } from '../../../src/mcp/errors/host-error.ts';

describe('failure', () => {
  test.each<[string, unknown, object]>([
    ['a refusal', new ServerFault('odd', -32603, 'no'), { message: 'server odd: no', code: -32603 }],
    [
      'a server that is gone',
      new HostError('closed', 'odd', 'it ended'),
      { message: 'MCP server "odd": it ended', code: 'closed' },
    ],
    [
      'a call that was too slow',
      new CommandFailed('too slow', 'timeout'),
      { message: 'too slow', code: 'timeout' },
    ],
    ['what was typed', new UsageError('one', 'two'), { message: 'one\ntwo' }],
    ['a code of the system', Object.assign(new Error('no file'), { code: 'ENOENT' }), { message: 'no file' }],
    ['what is no error', 'odd', { message: 'odd' }],
  ])('%s: the document has the message and the error code', (_, cause, error) => {
    expect(errorDocument(cause)).toEqual({ error });
    expect(formatFailure(cause).join('\n')).toBe(errorDocument(cause).error.message);
  });
});

describe('error document', () => {
  test.each<[string[], boolean]>([
    [['node', 'toolplane', 'mcp', 'list', '--json'], true],
    [['node', 'toolplane', 'mcp', 'list'], false],
    [['node', 'toolplane', 'mcp', 'add', 'x', '--', 'cmd', '--json'], false],
    [['node', 'toolplane', 'mcp', 'add', '--json', 'x', '--', 'cmd'], true],
  ])('%j asks for JSON: %j', (argv, wanted) => {
    expect(wantsJson(argv)).toBe(wanted);
  });
});
