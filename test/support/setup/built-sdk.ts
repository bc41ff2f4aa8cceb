import { pathToFileURL } from 'node:url';
import type * as Sdk from '../../../src/entry/index.ts';
import { PACKAGE } from './built-package.ts';

/** The SDK of the built package, for programs that tests start: it loads in half the time of the sources. */
export const { createSdkMcpServer, tool }: typeof Sdk = await import(
  `${pathToFileURL(PACKAGE).href}/dist/entry/index.js`
);
