import { delimiter, isAbsolute, relative, resolve, sep } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment without places in `PATH` where a project could bring along a program of any name: relative ones, and the
 * `node_modules/.bin` that npm adds for the project when it runs us, by `npx` or a script.
 */
export function withoutProjectPath(env: Environment, project: string): Environment {
  const isOfProject = (it: string) =>
    !isAbsolute(it) || (/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(it) && isInside(resolve(it), project));
  const changed = Object.entries(env).map(([name, value]) => {
    if (name.toUpperCase() !== 'PATH' || value === undefined) return [name, value] as const;
    const kept = value.split(delimiter).filter((it) => !isOfProject(it));
    return [name, kept.join(delimiter)] as const;
  });
  return Object.fromEntries(changed);
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
