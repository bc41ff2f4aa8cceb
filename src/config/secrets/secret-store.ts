/** Where secrets are kept, by name. */
export type SecretStore = {
  /** Undefined if there is none; throws if the store cannot be used. */
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  /** False if there was none. */
  remove(name: string): boolean;
  names(): readonly string[];
};
