import { basename } from 'node:path';
import { isWithin, realPlace } from '../approve/real-place.ts';
import type { EditOptions } from '../file/edit-document.ts';
import { MIGRATIONS } from '../file/versions.ts';
import { findPlaces } from '../source/places.ts';
import type { ConfigWorld } from '../world.ts';

/** The version of the settings we write. */
const SETTINGS_VERSION = MIGRATIONS.settings.length + 1;

/**
 * How a file of servers or settings is written: what a team shares can be read by all, what is the person's own only by
 * them; `.mcp.json` is everybody's format and carries no version; and no link leads a write out of the project.
 */
export function fileOptions(world: ConfigWorld, path: string): EditOptions {
  const own = { version: SETTINGS_VERSION, migrations: MIGRATIONS.settings };
  if (isOfHome(world.home, path)) return { ...own, mode: 0o600, directoryMode: 0o700 };
  const { within } = findPlaces(world);
  const place = { directoryMode: 0o755, ...(isWithin(path, within) && { within }) };
  switch (basename(path)) {
    case '.mcp.json':
      return { ...place, mode: 0o644 };
    case 'settings.local.json':
      return { ...place, ...own, mode: 0o600 };
    default:
      return { ...place, ...own, mode: 0o644 };
  }
}

/** Whether the file is among what Toolplane keeps for the person. */
export function isOfHome(home: string, path: string): boolean {
  return isWithin(realPlace(path), realPlace(home));
}
