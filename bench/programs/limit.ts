import * as o from '../operations.ts'
import { type Issue, issueMany, type Setting } from '../setting.ts'
import * as parts from './limit-parts.ts'

/**
 * The minimal work of a correct server for each operation, without protocol checks: the reference for the other
 * servers. Records are JSON in a map.
 */
export interface Limit {
  token(authorization: string, form: string): string
  introspection(authorization: string, form: string): string
  userinfo(authorization: string): string
  readonly issue: Issue
}

export function createLimit(setting: Setting): Limit {
  const store = new Map<string, string>()
  const limit = parts.createLimitParts(setting)

  /** Stores the item of a new token and returns the token. */
  function put({ token, item }: { readonly token: string; readonly item?: parts.Item }): string {
    if (item !== undefined) store.set(item.key, item.value)
    return token
  }

  const live = (token: string): parts.Claims => parts.liveClaims(store.get(parts.keyOf(token)))

  /** Reads the record by its hash and marks it as spent, to detect a replay. */
  function spend(presented: string, clientId: string, check: (claims: parts.Claims) => void): parts.Claims {
    const key = parts.keyOf(presented)
    const record = parts.liveClaims(store.get(key), clientId)
    check(record)
    store.set(key, JSON.stringify({ ...record, spent: true }))
    return record
  }

  /** Creates a new refresh record and a new access record. */
  const issueBoth = (clientId: string, scope: string, sub: string): string =>
    limit.response(put(limit.accessToken(clientId, scope, sub)), scope, put(limit.refreshToken(clientId, scope, sub)))

  return {
    token(authorization, form) {
      const parameters = new URLSearchParams(form)
      const clientId = limit.authenticate(authorization)
      const grantType = parameters.get('grant_type')
      const requested = parameters.get('scope') ?? ''
      // Client credentials: only a new token, stored under its hash or signed.
      if (grantType === 'client_credentials') {
        return limit.response(put(limit.accessToken(clientId, requested)), requested)
      }
      if (grantType === 'refresh_token') {
        const { scope, sub = '' } = spend(parameters.get('refresh_token') ?? '', clientId, () => {})
        return issueBoth(clientId, scope, sub)
      }
      if (grantType === 'authorization_code') {
        const check = (claims: parts.Claims): void => parts.checkRedirect(parameters, claims)
        const { scope, sub = '' } = spend(parameters.get('code') ?? '', clientId, check)
        return issueBoth(clientId, scope, sub)
      }
      return issueBoth(clientId, requested, parts.loginOf(parameters))
    },
    // Verifies the secret, hashes the token, reads one record, checks its expiry and returns the claims.
    introspection(authorization, form) {
      const scope = limit.authenticate(authorization)
      return parts.introspectionResponse(live(new URLSearchParams(form).get('token') ?? ''), scope)
    },
    // Hashes the token, reads one record and checks its expiry; the user's claims are constant.
    userinfo: (authorization) => parts.userinfoResponse(live(authorization.slice(7))),
    issue: async (operation, count) =>
      o.presentsIssued(operation) ? issueMany(count, async () => put(parts.issuedItem(limit, operation))) : [],
  }
}
