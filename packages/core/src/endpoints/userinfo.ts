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
    returnsClaims: true,
  },
  ({ scopeRules }) =>
    async ({ caller: { client, sub = '', scopes, claims } }, _kit, { question }) => {
      const names = userinfoClaimsIn(claims)
      const { userClaims } = scopeRules()
      return { json: { sub, ...(await userClaims(sub, scopes, 'identity', names && { client, names }, question)) } }
    },
)
