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
