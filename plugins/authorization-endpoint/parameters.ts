/** The parameters of an authorization request, under their wire names. */
export type AuthorizationParameters = Readonly<Record<string, string>>

/** Credentials, which are parameters of other endpoints. */
const credentials: ReadonlySet<string> = new Set([
  'client_assertion',
  'client_secret',
  'code_verifier',
  'password',
  'username',
])

/** Drops credentials that a client or a page has added by mistake: requests are stored, and appear in URLs. */
export const withoutCredentials = (params: AuthorizationParameters): AuthorizationParameters =>
  Object.fromEntries(Object.entries(params).filter(([name]) => !credentials.has(name)))
