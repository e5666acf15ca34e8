/** What is checked of a client: of one in a configuration, in the storage, or as the provider has it. */
interface CheckedMembers {
  readonly clientId: string
  readonly enabled?: boolean | undefined
  readonly grantTypes?: readonly string[] | undefined
  readonly scopes?: readonly string[] | undefined
}

/** Grant types whose requests need a scope. Others, as those of plugins, may return no access token. */
const needScopes: readonly string[] = [
  'client_credentials',
  'password',
  'authorization_code',
  'urn:ietf:params:oauth:grant-type:device_code',
]

/**
 * Returns what a client lacks that is allowed but can do nothing, one sentence each; none if it is disabled. The check of a
 * configuration, the commands, the admin API and the console report the same.
 */
export function clientGaps({ clientId, enabled, grantTypes = [], scopes = [] }: CheckedMembers): readonly string[] {
  if (enabled === false) return []
  if (grantTypes.length === 0) return [`${clientId} has no grant type, so it cannot get a token; add one to grantTypes`]
  if (grantTypes.every((grantType) => grantType === 'refresh_token'))
    return [`${clientId} has only refresh_token, so it never gets the first token; add a grant type that issues one`]
  return scopes.length === 0 && grantTypes.some((grantType) => needScopes.includes(grantType))
    ? [`${clientId} has no scope, so it cannot get a token; add one to scopes`]
    : []
}
