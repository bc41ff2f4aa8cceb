import type { Contender } from '../contender.ts';

/** Who is put before the faults; each is loaded only where it plays. */
export const CONTENDERS = {
  ours: async () => (await import('./ours.ts')).ours,
  sdk: async () => (await import('./sdk.ts')).sdk,
  aiSdk: async () => (await import('./ai-sdk.ts')).aiSdk,
} satisfies Record<string, () => Promise<Contender>>;

export type ContenderName = keyof typeof CONTENDERS;
