import type { EndpointKit } from '@grantry/core'
import type { TokenEndpointResponse } from 'openid-client'
import { isFailure, reasonOf } from './failure.ts'
import {
  createTokenRecords,
  type Kept,
  type KeptTokens,
  type TokenRecords,
  type UpstreamAccess,
} from './kept-tokens.ts'
import type { Connection } from './upstream-connection.ts'
import type { Settings } from './upstream-options.ts'

/** Seconds before its end at which an access token is refreshed. */
const margin = 60
/** Seconds after a failed refresh, or after the death of a process in one, until the next. */
const cooldown = 5
const recovery = 60
/** Milliseconds between two looks for the result of another process. */
const pause = 100
/** Characters of a token. */
const maxLength = 16_384
/** Characters of an identity token in a URL. */
const maxHintLength = 4096

/** Keeps the tokens of the providers that ask for it. */
export interface TokenKeeper {
  /** @param account the hash of `iss` and `sub` */
  keep(kit: EndpointKit, user: { readonly sub: string; readonly account: string }, granted: Granted): Promise<void>
  /** Removes the tokens of a user at one provider, or at all: also those that an earlier configuration has kept. */
  remove(kit: EndpointKit, sub: string, provider?: string, account?: string): Promise<void>
  /** Returns the identity token of the last sign-in of a user, if it is kept. */
  hintOf(kit: EndpointKit, sub: string, provider: string): Promise<string | undefined>
  /** The functions of the host. */
  functions(kit: EndpointKit): KeptTokens
}

/** A token response of a provider. */
export interface Granted {
  readonly provider: string
  readonly tokens: TokenEndpointResponse
}

/** Returns what is kept of a token response; `undefined` if it is too long. */
function tokensIn(
  { access_token, token_type, refresh_token, id_token, scope, expires_in }: TokenEndpointResponse,
  now: number,
  keepsHint: boolean,
) {
  if (access_token.length > maxLength || (refresh_token?.length ?? 0) > maxLength) return undefined
  return {
    accessToken: access_token,
    tokenType: token_type,
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(keepsHint && id_token !== undefined && id_token.length <= maxHintLength && { idToken: id_token }),
    ...(scope !== undefined && scope.length <= maxLength && { scope }),
    ...(expires_in !== undefined && { expiresAt: now + expires_in }),
  }
}

const accessOf = ({ accessToken, tokenType, scope, expiresAt }: Kept): UpstreamAccess => ({
  accessToken,
  tokenType,
  ...(scope !== undefined && { scope }),
  ...(expiresAt !== undefined && { expiresAt }),
})

interface Refreshing {
  readonly kit: EndpointKit
  readonly connection: Connection
  readonly records: TokenRecords
}

const unavailable = ({ kit }: Refreshing): Error =>
  kit.refuse('temporarily_unavailable', 'The provider cannot refresh its token now', 'upstream_refresh_failed')

const lockOf = ({ generation }: Kept): string => `refreshing upstream tokens:${generation}`

/** Sends the refresh token, as the only process that does. */
async function refresh(kept: Kept, refreshToken: string, refreshing: Refreshing): Promise<Kept | undefined> {
  const { kit, connection, records } = refreshing
  const { sub, provider } = kept
  const fail = (reason: string): void =>
    kit.recordUser({ type: 'upstream_refresh_failed', idp: provider, reason }, { sub })
  const opened = await connection.open(kit)
  let reason = 'too_long'
  if (isFailure(opened)) {
    reason = opened.failure
  } else {
    try {
      const granted = await opened.library.oidc.refreshTokenGrant(opened.client, refreshToken)
      const tokens = tokensIn(granted, kit.now(), connection.provider.logout)
      const { expiresAt: _, ...lasting } = kept
      const next = tokens && { ...lasting, ...tokens, generation: kit.randomId() }
      if (next !== undefined) return (await records.write(kit, next)) ? next : undefined
    } catch (error) {
      reason = reasonOf(error)
    }
  }
  fail(reason)
  if (reason === 'token_endpoint_invalid_grant') {
    // Another sign-in may have stored new tokens.
    if ((await records.read(kit, sub, provider))?.generation === kept.generation) {
      await records.remove(kit, sub, provider)
    }
    return undefined
  }
  await kit.records.put(lockOf(kept), true, kit.now() + cooldown)
  throw unavailable(refreshing)
}

const isDue = ({ expiresAt }: Kept, now: number): boolean => expiresAt !== undefined && now >= expiresAt - margin

/** Refreshes tokens, or waits for the process that does: a provider ends all tokens if a refresh token is used twice. */
async function refreshed(due: Kept, maxWait: number, refreshing: Refreshing): Promise<Kept | undefined> {
  const { kit, records } = refreshing
  let kept: Kept | undefined = due
  for (let waited = 0; waited <= maxWait * 1000; waited += pause) {
    if (kept?.refreshToken === undefined) return undefined
    if (await kit.records.insert(lockOf(kept), true, kit.now() + recovery)) {
      return refresh(kept, kept.refreshToken, refreshing)
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
    kept = await records.read(kit, due.sub, due.provider)
    if (kept !== undefined && !isDue(kept, kit.now())) return kept
  }
  throw unavailable(refreshing)
}

interface TokenKeeperDeps {
  connectionOf(provider: string): Connection | undefined
  /** Returns the user who has linked an account. */
  ownerOf(kit: EndpointKit, account: string): Promise<string | undefined>
}

export function createTokenKeeper(
  { providers, encryptionSecrets = [], timeout, subject }: Settings,
  { connectionOf, ownerOf }: TokenKeeperDeps,
): TokenKeeper {
  const records = createTokenRecords(encryptionSecrets)
  const keeps = new Map(providers.filter(({ keepTokens }) => keepTokens).map((provider) => [provider.name, provider]))

  /** Whether the account is still that of the user: a sign-in that is in progress can store tokens after the end of a link. */
  async function isOwn({ sub, account }: Kept, kit: EndpointKit): Promise<boolean> {
    if (account === sub) return true
    const owner = await ownerOf(kit, account)
    // Without a link, the function `subject` of the host has determined the user.
    return owner === undefined ? subject !== undefined : owner === sub
  }

  /** Returns the kept tokens, unless they have ended with a link, or with a revocation of the user. */
  async function current(kit: EndpointKit, sub: string, provider: string): Promise<Kept | undefined> {
    if (!keeps.has(provider)) return undefined
    const [kept, epoch] = await Promise.all([records.read(kit, sub, provider), kit.epochOf(sub)])
    if (kept === undefined || (epoch === kept.epoch && (await isOwn(kept, kit)))) return kept
    await records.remove(kit, sub, provider)
    return undefined
  }

  async function find(kit: EndpointKit, sub: string, provider: string): Promise<UpstreamAccess | undefined> {
    const connection = connectionOf(provider)
    const kept = await current(kit, sub, provider)
    if (connection === undefined || kept === undefined) return undefined
    if (!(await kit.isUserActive(sub))) return undefined
    const now = kit.now()
    if (!isDue(kept, now)) return accessOf(kept)
    const isValid = kept.expiresAt !== undefined && now < kept.expiresAt
    if (kept.refreshToken === undefined) return isValid ? accessOf(kept) : undefined
    try {
      // Long enough for a discovery and the refresh.
      const next = await refreshed(kept, timeout * 3, { kit, connection, records })
      return next && accessOf(next)
    } catch (error) {
      if (isValid) return accessOf(kept)
      throw error
    }
  }

  const remove: TokenKeeper['remove'] = async (kit, sub, provider, account) => {
    const named = provider === undefined ? providers.map(({ name }) => name) : [provider]
    await Promise.all(named.map((providerName) => records.remove(kit, sub, providerName, account)))
  }

  return {
    remove,
    hintOf: async (kit, sub, provider) => (await current(kit, sub, provider))?.idToken,
    async keep(kit, { sub, account }, { provider, tokens }) {
      const keeping = keeps.get(provider)
      const kept = keeping && tokensIn(tokens, kit.now(), keeping.logout)
      if (kept === undefined) return
      const epoch = await kit.epochOf(sub)
      const beginning = {
        issuer: kit.issuer,
        sub,
        provider,
        account,
        origin: kit.randomId(),
        generation: kit.randomId(),
      }
      const stored = { ...beginning, ...(epoch !== undefined && { epoch }), ...kept }
      await records.write(kit, stored)
      // Checks again, because a removal of the user or the link since then has not found the new tokens.
      const [present, isLinked, isActive] = await Promise.all([
        kit.epochOf(sub),
        isOwn(stored, kit),
        kit.isUserActive(sub),
      ])
      if (present !== epoch || !isLinked || !isActive) await records.remove(kit, sub, provider, account)
    },
    functions: (kit) => ({
      find: (sub, provider) => find(kit, sub, provider),
      remove: (sub, provider) => remove(kit, sub, provider),
    }),
  }
}
