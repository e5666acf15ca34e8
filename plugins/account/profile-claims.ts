/**
 * The claims that an operator can let users change. All others stay out of reach, also by a mistake in the configuration:
 * the address and the number are proved, and applications decide by roles, groups and names for the sign-in.
 *
 * @see OpenID Connect Core section 5.1
 */
export const profileClaims = [
  'name',
  'given_name',
  'family_name',
  'middle_name',
  'nickname',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
] as const

export type ProfileClaim = (typeof profileClaims)[number]

/** The claims that users change by default. */
export const usualClaims: readonly ProfileClaim[] = [
  'name',
  'given_name',
  'family_name',
  'nickname',
  'zoneinfo',
  'locale',
]
