/** What to do about a server that refuses us. */
export const SIGN_IN =
  'it wants a sign-in or credentials; set "headers" or "headersHelper" of its entry, or check what they hold';
