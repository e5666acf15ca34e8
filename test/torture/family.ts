import type { Credentials } from '@grantry/core/testing'

/** A refresh token that was answered with its successor, and when that had come in: milliseconds since the epoch. */
export interface SpentToken {
  readonly token: string
  readonly answeredAt: number
}

/** What one client holds of one authorization. */
export interface Family {
  readonly as: Credentials
  /** The newest; nobody has presented it. */
  refreshToken: string
  accessToken: string
  /** Some of those before the newest. */
  readonly elderAccessTokens: string[]
  firstSpent: SpentToken | undefined
  lastSpent: SpentToken | undefined
}

/** What must not work any more, in no way, by an acknowledgement that has come in. */
export interface Grave {
  readonly as: Credentials
  readonly why: string
  /** Never presented before the family died: presenting a spent one would end the family once more, and hide that it lived. */
  readonly refreshTokens: readonly string[]
  readonly accessTokens: readonly string[]
}

/** Elder access tokens that a client remembers. */
const remembered = 4

export const newFamily = (as: Credentials, refreshToken: string, accessToken: string): Family => ({
  as,
  refreshToken,
  accessToken,
  elderAccessTokens: [],
  firstSpent: undefined,
  lastSpent: undefined,
})

/** The newest refresh token was answered with these. */
export function advance(family: Family, refreshToken: string, accessToken: string, answeredAt: number): void {
  family.elderAccessTokens.push(family.accessToken)
  if (family.elderAccessTokens.length > remembered) family.elderAccessTokens.shift()
  family.lastSpent = { token: family.refreshToken, answeredAt }
  family.firstSpent ??= family.lastSpent
  family.refreshToken = refreshToken
  family.accessToken = accessToken
}

export const graveOf = (family: Family, why: string): Grave => ({
  as: family.as,
  why,
  refreshTokens: [family.refreshToken],
  accessTokens: [family.accessToken, ...family.elderAccessTokens],
})
