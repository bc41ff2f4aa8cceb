/** Says who hears of these changes: who subscribed to the same resource, or to one that it is within. All are hrefs. */
export function toldOf(changed: readonly string[]): (subscribed: string) => boolean {
  const same = new Set(changed);
  // There may be thousands of changes and thousands who have subscribed: in order, each finds its own at once.
  const sorted = [...same].sort();
  return (subscribed) => {
    if (same.has(subscribed)) return true;
    const within = subscribed.endsWith('/') ? subscribed : `${subscribed}/`;
    return sorted[firstFrom(sorted, within)]?.startsWith(within) === true;
  };
}

/** Servers may write an address in another way than it was given to them; in this way it is compared. */
export function hrefOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).href : uri;
}

/** Where the first stands that does not come before `least`. */
function firstFrom(sorted: readonly string[], least: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? '') < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
