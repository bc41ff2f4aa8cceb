import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import type { Command } from 'commander';
import { isRecord } from '../../base/json-value.ts';
import { messageOf, SdkError } from '../../protocol/sdk-error.ts';
import { isForeignServer } from '../../tool-server/foreign-server.ts';
import { openSession, type SdkServerEntry } from '../../tool-server/sdk-server.ts';
import { serveStdio } from '../../tool-server/serve.ts';
import { claimStdout, flushed } from '../output/output.ts';
import { sanitize } from '../terminal/sanitize.ts';

/** `toolplane serve <module>`: runs the tool server of a module as a stdio MCP server (R42). */
export function defineServe(command: Command): void {
  command
    .argument('<module>', 'path of the module')
    .option('--export <name>', 'the export to serve; default: the first tool server')
    .addHelpText(
      'after',
      `
The module exports the result of createSdkMcpServer() or toolServer(), or an McpServer of the MCP SDK:

  export default toolServer('calc').tool('add', 'Add two numbers', { a: z.number(), b: z.number() }, …);

Messages are one JSON-RPC object per line on stdin and stdout; other output of the module goes to stderr.`,
    )
    .action(async (path: string, options: { export?: string }) => {
      const output = claimStdout();
      const { name, entry } = findServer(await load(path), path, options.export);
      await serveStdio((port) => openSession(entry, port), name, {
        input: process.stdin,
        output,
        onLog: (level, data) =>
          console.error(sanitize(`[${level}] ${typeof data === 'string' ? data : inspect(data)}`)),
      });
      await flushed(output);
    });
}

type Served = { name: string; entry: Pick<SdkServerEntry, 'instance'> };

async function load(path: string): Promise<Record<string, unknown>> {
  const url = path.startsWith('file:') ? path : pathToFileURL(resolve(path)).href;
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (cause) {
    throw new SdkError('serve-failed', `cannot load ${path}: ${messageOf(cause)}`, { cause });
  }
}

function findServer(module: Record<string, unknown>, path: string, wanted: string | undefined): Served {
  const names = wanted === undefined ? ['default', ...Object.keys(module)] : [wanted];
  for (const name of names) {
    const served = asServer(module[name], name);
    if (served) return served;
  }
  const which = wanted === undefined ? 'exports no tool server' : `has no tool server named "${wanted}"`;
  const known = Object.keys(module).join(', ') || 'nothing';
  throw new SdkError(
    'serve-failed',
    `${path} ${which} (exports: ${known}); export the result of createSdkMcpServer()`,
  );
}

function asServer(value: unknown, name: string): Served | undefined {
  if (isRecord(value) && value.type === 'sdk' && 'instance' in value) {
    return { name: String(value.name), entry: value as Served['entry'] };
  }
  return isForeignServer(value) ? { name, entry: { instance: value } } : undefined;
}
