import { expect, test } from 'vitest';
import {
  addressLabel,
  flagLabel,
  homeLabel,
  pathLabel,
  projectLabel,
} from '../../../src/config/sources/labels.ts';

test.each([
  ['/h/me/.toolplane/settings.json', '~/.toolplane/settings.json'],
  ['/h/me', '/h/me'],
  ['/h/meyer/x', '/h/meyer/x'],
  ['/etc/toolplane/managed-mcp.json', '/etc/toolplane/managed-mcp.json'],
  ['/h/me/..x', '~/..x'],
])('%s is shown as %s', (path, label) => {
  expect(homeLabel(path, { userHome: '/h/me' })).toBe(label);
});

test.each([
  ['/r/a/.mcp.json', '.mcp.json'],
  ['/r/.mcp.json', '../.mcp.json'],
  ['/r/a/.toolplane/settings.local.json', '.toolplane/settings.local.json'],
])('from /r/a %s is %s', (path, label) => {
  expect(projectLabel(path, { cwd: '/r/a' })).toBe(label);
});

test.each([
  ['servers.json', '--mcp-config servers.json'],
  ['../a/b@2.json', '--mcp-config ../a/b@2.json'],
  ['{broken: "s3cret"', 'the file of --mcp-config'],
  ['Bearer abcdef', 'the file of --mcp-config'],
  ['x'.repeat(201), 'the file of --mcp-config'],
  ['ghp_0123456789abcdef', '--mcp-config ghp_[redacted]'],
])('a flag that names %s is %s', (path, label) => {
  expect(flagLabel('--mcp-config', path)).toBe(label);
});

test.each([
  ['https://me:secret@h.example/a/b?key=secret#secret', 'https://h.example/a/b'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
])('of an address %s only %s is shown', (url, label) => {
  expect(addressLabel(url)).toBe(label);
});

test.each([
  ['/h/me/r/kit/.mcp.json', 'kit/.mcp.json'],
  ['/h/me/r', '~/r'],
  ['/h/me/kit/.mcp.json', '~/kit/.mcp.json'],
  ['/opt/kit/.mcp.json', '/opt/kit/.mcp.json'],
  ['/h/me/r/a\nb/.mcp.json', 'a\\u000ab/.mcp.json'],
])('a path of anybody’s, %j, is shown as %s', (path, label) => {
  expect(pathLabel(path, { cwd: '/h/me/r', userHome: '/h/me' })).toBe(label);
});
