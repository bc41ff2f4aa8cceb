import type { ConfigFault, Position } from './model.ts';

/** One line: where, in the form that editors and terminals open, and what. */
export function faultText({ label, position, key, message }: ConfigFault): string {
  return `${placeText(label, position)}: ${key === undefined ? '' : `${key}: `}${message}`;
}

/** `path:line:column`, as far as it is known. */
export function placeText(label: string, position?: Position): string {
  return position ? `${label}:${position.line}:${position.column}` : label;
}
