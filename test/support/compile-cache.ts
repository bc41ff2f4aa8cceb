/** For the `env` of a server that tests start often and that loads many modules: a server inherits no compile cache. */
export const COMPILE_CACHE: Record<string, string> = process.env.NODE_COMPILE_CACHE
  ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
  : {};
