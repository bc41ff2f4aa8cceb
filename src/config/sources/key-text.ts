import { cutText } from '../../base/cut-text.ts';
import { visibleText } from '../../base/visible-text.ts';

/** A way into a file as people write it, such as `mcpServers.github.args` or `connectors[0].url`, on one line. */
export function keyText(way: readonly (string | number)[]): string {
  return way.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    if (!/^[\w$-]{1,80}$/.test(step)) return `${text}[${quoted(step)}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** Of what is very long, the beginning. */
function quoted(name: string): string {
  return visibleText(JSON.stringify(name.length > MOST ? `${cutText(name, MOST)}…` : name));
}

const MOST = 80;
