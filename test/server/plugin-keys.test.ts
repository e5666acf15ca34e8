import * as authorizationEndpoint from '@grantry/plugins/authorization-endpoint'
import * as selfService from '@grantry/plugins/self-service'
import * as signIn from '@grantry/plugins/sign-in'
import * as upstream from '@grantry/plugins/upstream'
import { expect, test } from 'vitest'
import * as keys from '../../packages/server/src/plugin-keys.ts'

test('the server names the functions of plugins as the plugins do', () => {
  const { userSessions, userAuthorizations, userConsents } = authorizationEndpoint
  const [{ invitations }, { secondFactors }, { upstreamUsers }] = [selfService, signIn, upstream]
  const ofPlugins = { userSessions, userAuthorizations, userConsents, invitations, secondFactors, upstreamUsers }
  const ofServer: typeof ofPlugins = { ...keys }
  expect(ofServer).toEqual(ofPlugins)
})
