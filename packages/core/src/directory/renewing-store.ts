import type { MaybePromise } from '../types.ts'
import type { ClientOptions } from './client.ts'

/** Reads a client again that a source remembers. */
export interface RenewingStore {
  readonly renew?: ((clientId: string, options?: RenewOptions) => MaybePromise<ClientOptions | undefined>) | undefined
}

export interface RenewOptions {
  /** Whether the client is read in any case, also if it was read in this second. */
  readonly always?: boolean | undefined
}

export const always: RenewOptions = { always: true }
