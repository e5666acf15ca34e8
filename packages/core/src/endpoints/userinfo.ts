import { userinfoClaimsIn } from '../tokens/claims.ts'
import { builtIn } from './core-endpoint.ts'

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
  ({ scopeRules }) =>
    async ({ caller: { client, sub = '', scopes, claims } }) => {
      const names = userinfoClaimsIn(claims)
      return { json: { sub, ...(await scopeRules().userClaims(sub, scopes, 'identity', names && { client, names })) } }
    },
)
