/** Bytes a token takes in prose; by bytes, since a sign of Chinese is nearly a token of its own. */
export const BYTES_OF_TOKEN = 4;

/** About how many tokens a text takes: cheap, and the same every time. */
export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_OF_TOKEN);
}
