import { type EndpointKit, hostKey } from '@grantry/core'
import * as v from 'valibot'
import { createSafe, type Safe } from '../shared/safe.ts'

/** An access token of a provider. A secret: never log it, and never send it to a browser. */
export interface UpstreamAccess {
  readonly accessToken: string
  /** Such as `bearer`. */
  readonly tokenType: string
  readonly scope?: string | undefined
  /** Epoch seconds; absent if the provider has not stated it. */
  readonly expiresAt?: number | undefined
}

/** The tokens of providers with `keepTokens`. */
export interface KeptTokens {
  /**
   * Returns a valid access token of a user. Refreshes it if needed, and only once, even if several processes ask for
   * it.
   *
   * @param provider the name of the provider
   * @returns `undefined` if none is kept, the user is not active, or the provider accepts its refresh token no longer
   * @throws OAuthError `temporarily_unavailable` if the provider cannot refresh it at the moment
   */
  find(sub: string, provider: string): Promise<UpstreamAccess | undefined>
  /** Removes the tokens of a user. They stay valid at the provider. */
  remove(sub: string, provider: string): Promise<void>
}

/**
 * The key of the tokens of providers. Only the host has it: no endpoint returns them.
 *
 * @example
 * const access = await provider.use(upstreamTokens).find(sub, 'google')
 */
export const upstreamTokens = hostKey<KeptTokens>('upstream-tokens', 'upstream() with keepTokens')

/** Seconds for which tokens are kept after the last sign-in or refresh. */
const lifetime = 15_552_000
/** Seconds for which a removal stops refreshes that have begun before. */
const endedLifetime = 600

const text = v.string()
const keptSchema = v.object({
  // The members that identify the record and its sign-in, so that no other record can replace it.
  issuer: text,
  sub: text,
  provider: text,
  /** The hash of `iss` and `sub` of the account at the provider. */
  account: text,
  /** The same for all refreshes since a sign-in. */
  origin: text,
  /** Changes with each refresh. */
  generation: text,
  /** The epoch of the user at the sign-in. */
  epoch: v.exactOptional(text),
  accessToken: text,
  tokenType: text,
  refreshToken: v.exactOptional(text),
  /** For a logout at the provider, if the configuration asks for one. */
  idToken: v.exactOptional(text),
  scope: v.exactOptional(text),
  expiresAt: v.exactOptional(v.number()),
})

/** The tokens of a user, as they are sealed. */
export type Kept = v.InferOutput<typeof keptSchema>

const recordSchema = v.object({ sealed: text })

const keyOf = (sub: string, provider: string): string => `upstream tokens:${JSON.stringify([sub, provider])}`
const endedKeyOf = ({ origin }: Kept): string => `ended upstream tokens:${origin}`

/** The sealed tokens of users, one record for each user and provider. */
export interface TokenRecords {
  read(kit: EndpointKit, sub: string, provider: string): Promise<Kept | undefined>
  /** Stores tokens. Returns `false` if they were removed in the meantime. */
  write(kit: EndpointKit, kept: Kept): Promise<boolean>
  /** @param account only those of this account at the provider */
  remove(kit: EndpointKit, sub: string, provider: string, account?: string): Promise<void>
}

export function createTokenRecords(secrets: readonly string[]): TokenRecords {
  const safe: Safe = createSafe(secrets, 'upstream tokens')

  async function read(kit: EndpointKit, sub: string, provider: string): Promise<Kept | undefined> {
    const record = await kit.records.get(keyOf(sub, provider), recordSchema)
    const kept = record && (await safe.open(record.sealed, keptSchema))
    return kept?.issuer === kit.issuer && kept.sub === sub && kept.provider === provider ? kept : undefined
  }

  return {
    read,
    async write(kit, kept) {
      const { sub, provider, refreshToken, expiresAt } = kept
      const key = keyOf(sub, provider)
      const until = refreshToken === undefined ? expiresAt : undefined
      await kit.records.put(key, { sealed: await safe.seal(kept) }, until ?? kit.now() + lifetime)
      if ((await kit.records.get(endedKeyOf(kept), v.literal(true))) === undefined) return true
      await kit.records.delete(key)
      return false
    },
    async remove(kit, sub, provider, account) {
      const kept = await read(kit, sub, provider)
      if (kept !== undefined && account !== undefined && kept.account !== account) return
      // Written first: a refresh that is in progress looks for this mark after it has stored its result.
      if (kept !== undefined) await kit.records.put(endedKeyOf(kept), true, kit.now() + endedLifetime)
      await kit.records.delete(keyOf(sub, provider))
    },
  }
}
