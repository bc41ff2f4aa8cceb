import { FLAGS, type FlagUse } from './flag-table.ts';

/** Every flag with what becomes of it, one a line, for `--help`. */
export function describeFlags(): string {
  const rows = Object.entries(FLAGS).map(([name, { kind, use }]) => {
    const flag = name.length > 1 ? `--${name}` : `-${name}`;
    return [flag, kind.takes === 'none' ? '' : kind.what, aboutUse(use)] as const;
  });
  const width = Math.max(...rows.map(([flag]) => flag.length));
  const lines = rows.map(
    ([flag, what, about]) => `  ${flag.padEnd(width)}  ${[what, about].filter(Boolean).join('; ')}`,
  );
  return ['Flags:', ...lines.map((line) => line.trimEnd())].join('\n');
}

function aboutUse(use: FlagUse): string {
  switch (use.as) {
    case 'used':
      return '';
    case 'harmless':
      return `changes nothing: ${use.why}`;
    case 'unused':
      return `has no effect: ${use.why}`;
    case 'refused':
      return `refused: ${use.instead}`;
  }
}
