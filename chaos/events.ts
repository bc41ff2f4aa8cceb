import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failed } from './judge.ts';
import { PATIENCE } from './patience.ts';

/** One event that a server process recorded. */
export type Told = { event: string; pid: number; data?: unknown };

/** Events of all processes of one server, across restarts. */
export class Events {
  readonly #file: string;

  constructor(directory: string) {
    this.#file = join(directory, 'events');
  }

  all(event: string): Told[] {
    return readLines(this.#file)
      .map((line) => JSON.parse(line) as Told)
      .filter((told) => told.event === event);
  }

  count(event: string): number {
    return this.all(event).length;
  }

  /** Waits for the `nth` such event. */
  async saw(event: string, withinMs: number, nth = 1): Promise<Told> {
    const until = performance.now() + withinMs * PATIENCE;
    for (;;) {
      const told = this.all(event)[nth - 1];
      if (told) return told;
      if (performance.now() > until) throw new Failed(`the server saw no "${event}" within ${withinMs} ms`);
      await sleep(20);
    }
  }

  /** Every process of a server, including its helpers. */
  pids(): number[] {
    return this.all('started').map(({ pid }) => pid);
  }

  alive(): number[] {
    return this.pids().filter(isAlive);
  }

  /** Waits until none is left; returns the number of remaining ones. */
  async left(withinMs: number): Promise<number> {
    const until = performance.now() + withinMs * PATIENCE;
    while (this.alive().length > 0 && performance.now() < until) await sleep(20);
    return this.alive().length;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function readLines(file: string): string[] {
  try {
    // The last line may be incomplete.
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
