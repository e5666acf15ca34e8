// The keys of functions that plugins offer, without the plugins: keys with the same name are equal, and a server or a command
// without these plugins need not load them to find out. `test/server/plugin-keys.test.ts` compares them.
import { hostKey } from '@grantry/core'
import type { UserAuthorizations, UserConsents, UserSessions } from '@grantry/plugins/authorization-endpoint'
import type { Invitations } from '@grantry/plugins/self-service'
import type { SecondFactors } from '@grantry/plugins/sign-in'
import type { UpstreamUsers } from '@grantry/plugins/upstream'

export const userSessions = hostKey<UserSessions>('user-sessions', 'authorizationEndpoint()')

export const userAuthorizations = hostKey<UserAuthorizations>(
  'user-authorizations',
  'loginPage() or authorizationEndpoint()',
)

export const userConsents = hostKey<UserConsents>('user-consents', 'loginPage() or authorizationEndpoint()')

export const invitations = hostKey<Invitations>('invitations', "selfService({ signUp: 'invitation' }), in signIn(),")

export const secondFactors = hostKey<SecondFactors>(
  'second-factors',
  'signIn() with secondFactors or passkeys, in authorizationEndpoint(),',
)

export const upstreamUsers = hostKey<UpstreamUsers>('upstream-users', 'upstream()')
