import { win32 } from 'node:path';

/** What `spawn` is given on Windows. */
export type WindowsCommand = {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already. */
  readonly isVerbatim: boolean;
};

type Surroundings = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  isFile(path: string): boolean;
};

/**
 * `npx` and the like are batch files there, found by the endings in PATHEXT and run by `cmd.exe` only, which reads the
 * whole line by rules of its own. Everything else is run as it is.
 */
export function windowsCommand(
  command: string,
  args: readonly string[],
  around: Surroundings,
): WindowsCommand {
  const found = find(command, around);
  if (found === undefined || !/\.(?:cmd|bat)$/i.test(found)) {
    return { file: found ?? command, args, isVerbatim: false };
  }
  // What npm links hands its arguments to the next command line, where they are read once more.
  const readings = /node_modules[\\/]\.bin[\\/][^\\/]+\.cmd$/i.test(found) ? 2 : 1;
  const words = args.map((arg) => escapeMeta(quote(arg), readings));
  const line = [escapeMeta(`"${win32.normalize(found)}"`, 1), ...words].join(' ');
  const shell = variable(around.env, 'COMSPEC') ?? 'cmd.exe';
  return { file: shell, args: ['/d', '/s', '/c', `"${line}"`], isVerbatim: true };
}

function find(command: string, { env, cwd, isFile }: Surroundings): string | undefined {
  const endings = (variable(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(Boolean);
  const hasEnding = endings.some((ending) => command.toLowerCase().endsWith(ending.toLowerCase()));
  const names = hasEnding ? [command] : endings.map((ending) => command + ending.toLowerCase());
  const path = (variable(env, 'PATH') ?? '').split(';').filter(Boolean);
  // A file that happens to lie in the working directory must not pass for a program of that name.
  const folders = /[\\/]/.test(command) ? [cwd] : path;
  for (const folder of folders) {
    const hit = names.map((name) => win32.resolve(folder, name)).find((file) => isFile(file));
    if (hit !== undefined) return hit;
  }
  return undefined;
}

/** As programs take their command line apart: backslashes count only before a quote. */
function quote(arg: string): string {
  const inner = arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1');
  return `"${inner}"`;
}

/** Once for each time `cmd.exe` reads it. */
function escapeMeta(word: string, readings: number): string {
  let escaped = word;
  for (let reading = 0; reading < readings; reading++)
    escaped = escaped.replace(/[()%!^"<>&|;, *?[\]`]/g, '^$&');
  return escaped;
}

function variable(env: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
