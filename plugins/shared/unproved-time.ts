const claim = 'auth_time_unproved'

/**
 * Marks tokens of a sign-in at another provider that has not stated when the user authenticated: their `auth_time` is the
 * time of its response, and no proof of a recent authentication (RFC 9470).
 */
export const unprovedTime = { [claim]: true } as const

/** Whether the `auth_time` of these claims does not prove when the user authenticated. */
export const isTimeUnproved = (claims: Readonly<Record<string, unknown>> | undefined): boolean =>
  claims?.[claim] === true

/** The mark, for claims of tokens that follow from others. */
export const unprovedTimeOf = (
  claims: Readonly<Record<string, unknown>> | undefined,
): typeof unprovedTime | undefined => (isTimeUnproved(claims) ? unprovedTime : undefined)
