/** Whether who subscribed to the one hears of a change of the other: the same resource, or one within it. */
export function isToldOf(subscribed: string, changed: string): boolean {
  if (subscribed === changed) return true;
  const [whole, part] = [hrefOf(subscribed), hrefOf(changed)];
  return whole === part || part.startsWith(whole.endsWith('/') ? whole : `${whole}/`);
}

/** Servers may write an address in another way than it was given to them. */
function hrefOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri;
}
