import { defineGrant, definePlugin } from '@grantry/core'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { atIdp, client, exchange, identityProvider, typeOf } from './jag-parties.ts'

// An assertion would name the user alone, as if the user had signed in to the client.
test('can be no refresh token of a client that acts for the user', async () => {
  const delegated = defineGrant({
    grantType: 'urn:example:delegated',
    params: v.object({}),
    handle: () => ({
      subject: { sub: 'U019488227', amr: ['pwd'] },
      scopes: ['openid', 'offline_access'],
      actor: { sub: 'agent-7' },
    }),
  })
  const clients = [client(atIdp, ['urn:example:delegated', 'refresh_token', exchange], ['openid', 'offline_access'])]
  const f = await identityProvider({}, { plugins: [definePlugin('delegated', [delegated])], clients })
  const form = { grant_type: 'urn:example:delegated', scope: 'openid offline_access' }
  const { refresh_token: token } = (await f.post('token', form, atIdp)).body
  const { failure } = await f.request(token, { subject_token_type: typeOf('refresh_token') })
  expect(failure).toBe('plugin:id-jag:actor_delegated')
})
