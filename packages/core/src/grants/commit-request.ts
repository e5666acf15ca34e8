import type { Settlement } from '../abuse/settlement.ts'
import type { Client } from '../directory/client.ts'
import type { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { UsableProof } from '../parts/token-binding.ts'
import { fingerprintOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Families } from '../tokens/stored-grant.ts'
import type { Issuance } from './issuance.ts'
import type { Minted } from './mint.ts'
import type { CredentialDetails } from './redemption.ts'

/** A token request that has passed all checks and is ready for the commit. */
export interface CommitRequest {
  readonly client: Client
  readonly redemptions: readonly CredentialDetails[]
  /** A stored grant that is used without being spent. It must not be spent already. */
  readonly continues: CredentialDetails | undefined
  /** The proofs of keys that are accepted once. The commit uses them up. */
  readonly proofs: readonly UsableProof[]
  /** The settlements to write with the tokens. The commit takes them from the list. */
  readonly unsettled: Settlement[]
  /** The lifetime of the access token in seconds, if the grant shortens that of the client. */
  readonly lifetime: number | undefined
  /** Returns an id that the request shares with its retries only. Needed when a refresh token is rotated. */
  readonly retryId: () => string
  /** Returns the refusal of the grant. */
  readonly refuse: (reason: string) => OAuthError
  readonly trace: Trace
}

/** Mints the tokens of a request with these values. */
export type MintFrom = (issuance: Issuance) => Promise<Minted>

/** What a commit needs to respond to a request whose credentials are spent. */
export interface ReplayDeps {
  readonly store: Store
  readonly families: Families
  readonly runtime: Runtime
  readonly recorder: Recorder
}

/** Returns what an event contains about a credential. */
export const aboutOf = ({ kind, hash, record }: CredentialDetails, families: Families) => ({
  fingerprint: fingerprintOf(hash),
  ...(record !== undefined && kind !== 'code' && kind !== 'refresh' && { kind }),
  ...families.describe(record?.family),
})

export const refreshTokenIn = (redemptions: readonly CredentialDetails[]): CredentialDetails | undefined =>
  redemptions.find(({ kind }) => kind === 'refresh')
