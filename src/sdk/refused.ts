import { SdkError } from '../protocol/sdk-error.ts';
import { OFFICIAL_EXPORTS } from './export-table.ts';

/** Stands for something of the official package that is not offered: any use of it fails with its name and what to do instead. */
export function refused(name: keyof typeof OFFICIAL_EXPORTS): never {
  // Not an arrow function: of those `new` says only that they are no constructors.
  function fail(): never {
    throw new SdkError(
      'unsupported-method',
      `${name} is not offered by toolplane: ${OFFICIAL_EXPORTS[name]}`,
    );
  }
  return new Proxy(fail, { get: fail, apply: fail, construct: fail, has: fail, ownKeys: fail }) as never;
}
