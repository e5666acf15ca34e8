import type { AuthInfo } from '../auth-info.ts'
import type { AccessToken } from '../resource-server.ts'

const tokens = new WeakMap<object, AccessToken>()

/** Remembers the token of a request. */
export const setToken = (source: object, token: AccessToken): void => void tokens.set(source, token)

/**
 * Returns the access token of a request.
 *
 * @param source the object that the middleware received: the request of Express and Fastify, the context of Koa and Hono
 * @throws TypeError if no `requireToken()` has run for this request, so that a route without one fails
 */
export function tokenOf(source: object): AccessToken {
  const token = tokens.get(source)
  if (token === undefined) throw new TypeError('requireToken() has not run for this request')
  return token
}

const infos = new WeakMap<object, AuthInfo>()

/** Remembers the token of a request in the form of the MCP SDKs. */
export const setAuthInfo = (source: object, info: AuthInfo): void => void infos.set(source, info)

/**
 * Returns the access token of a request in the form of the MCP SDKs, for `handler.fetch(request, { authInfo })`.
 *
 * @param source the object that the middleware received: the request of Express and Fastify, the context of Hono
 * @throws TypeError if no `mcpAuth()` has run for this request
 */
export function authInfoOf(source: object): AuthInfo {
  const info = infos.get(source)
  if (info === undefined) throw new TypeError('mcpAuth() has not run for this request')
  return info
}
