import type { PoolCall } from './pool-call.ts';

/** What people read: the title a tool gave itself, or its own name in words, `send_mail` as `Send mail`. */
export function displayName({ tool }: Pick<PoolCall, 'tool'>): string {
  const { title, annotations, name } = tool.listed;
  const own = title ?? annotations?.title;
  if (own) return own;
  const words = name.replace(/[_-]+/g, ' ').trim() || name;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
