import type { Json } from '../types.ts'
import { builtIn } from './core-endpoint.ts'

/** `role` is an array, even with only one role (the seed, section 2.5). */
const asList = (value: Json): Json => (Array.isArray(value) ? value : [value])

/**
 * `GET | POST /connect/userinfo`: returns the claims of the user of an access token.
 *
 * @see OpenID Connect Core section 5.3; wire contract, section 5
 */
export const userinfoEndpoint = builtIn(
  {
    name: 'userinfo',
    path: '/connect/userinfo',
    metadataName: 'userinfo_endpoint',
    methods: ['GET', 'POST'],
    caller: 'token',
    scope: 'openid',
    cors: 'clients',
  },
  ({ userClaims }) =>
    async ({ caller: { sub = '', scopes } }) => {
      const claims = await userClaims(sub, scopes, 'identity')
      if (claims.role !== undefined) claims.role = asList(claims.role)
      return { json: { sub, ...claims } }
    },
)
