import type { Credentials } from '@grantry/testing'

/** A refresh token that was exchanged for its successor. Times are milliseconds since the epoch. */
export interface SpentToken {
  readonly token: string
  /** When it was first sent. A server may have spent it then, even if only the response to a later attempt arrived. */
  readonly firstSentAt: number
  readonly answeredAt: number
}

/** The tokens of one client from one authorization. */
export interface Family {
  readonly as: Credentials
  /** The newest; not presented yet. */
  refreshToken: string
  accessToken: string
  /** Some of the previous ones. */
  readonly elderAccessTokens: string[]
  firstSpent: SpentToken | undefined
  lastSpent: SpentToken | undefined
}

/** Tokens that must not work any more, because of an acknowledgement that has arrived. */
export interface RevokedFamily {
  readonly as: Credentials
  readonly why: string
  /**
   * Never presented before the family was revoked: presenting a spent one would revoke the family again, and hide that
   * it was still valid.
   */
  readonly refreshTokens: readonly string[]
  readonly accessTokens: readonly string[]
}

/** Older access tokens that a client remembers. */
const remembered = 4

export const newFamily = (as: Credentials, refreshToken: string, accessToken: string): Family => ({
  as,
  refreshToken,
  accessToken,
  elderAccessTokens: [],
  firstSpent: undefined,
  lastSpent: undefined,
})

/** The response to the newest refresh token. */
export function advance(
  family: Family,
  refreshToken: string,
  accessToken: string,
  times: Pick<SpentToken, 'firstSentAt' | 'answeredAt'>,
): void {
  family.elderAccessTokens.push(family.accessToken)
  if (family.elderAccessTokens.length > remembered) family.elderAccessTokens.shift()
  family.lastSpent = { token: family.refreshToken, ...times }
  family.firstSpent ??= family.lastSpent
  family.refreshToken = refreshToken
  family.accessToken = accessToken
}

export const revokedFamilyOf = (family: Family, why: string): RevokedFamily => ({
  as: family.as,
  why,
  refreshTokens: [family.refreshToken],
  accessTokens: [family.accessToken, ...family.elderAccessTokens],
})
