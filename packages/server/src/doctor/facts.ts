import type { AtomicDriver, Client, KeyInfo, Scope } from '@grantry/core'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import type { ConfiguredUser } from '../users/configured-users.ts'
import type { Finding } from './finding.ts'

/** A file that the server reads, and what others of this machine may do with it. */
export interface FileFact {
  readonly path: string
  /** Permission bits; `undefined` where the system has none. */
  readonly mode: number | undefined
  /** `secret`: nobody else may read it. */
  readonly kind: 'configuration' | 'secret'
}

/** What the storage said when it was asked. */
export type StoreFact =
  | { readonly reachable: false; readonly reason: string }
  | {
      readonly reachable: true
      readonly driver: Pick<AtomicDriver, 'name'>
      readonly counts: boolean
      /** Seconds by which its clock is ahead of ours; `undefined` where it has none of its own. */
      readonly clockAhead: number | undefined
    }

/** Everything that the doctor knows. Checks are pure functions of it. */
export interface Facts {
  readonly configuration: CheckedConfiguration
  /** With every default; empty where a module keeps them elsewhere. */
  readonly clients: readonly Client[]
  readonly clientsElsewhere: boolean
  /** Those of the configuration, with every default. */
  readonly scopes: readonly Scope[]
  readonly users: readonly ConfiguredUser[]
  readonly files: readonly FileFact[]
  /** Epoch seconds at which the file of `keys.jwks` was last changed. */
  readonly keyFileChangedAt: number | undefined
  /** The ring; `undefined` where the storage could not be asked. */
  readonly keys: readonly KeyInfo[] | undefined
  /** By which tokens can be signed; the first where a client asks for none. */
  readonly signingAlgorithms: readonly string[]
  readonly store: StoreFact
  /** What the provider warned of at start. */
  readonly warnings: readonly { readonly reason: string; readonly message: string }[]
  /** Epoch seconds. */
  readonly now: number
}

export type Check = (facts: Facts) => readonly Finding[]
