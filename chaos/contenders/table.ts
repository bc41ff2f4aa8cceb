import type { Contender } from '../contender.ts';

/** The clients under test; each is loaded only in its own trials. */
export const CONTENDERS = {
  ours: async () => (await import('./ours.ts')).ours,
  sdk: async () => (await import('./sdk.ts')).sdk,
  aiSdk: async () => (await import('./ai-sdk.ts')).aiSdk,
} satisfies Record<string, () => Promise<Contender>>;

export type ContenderName = keyof typeof CONTENDERS;
