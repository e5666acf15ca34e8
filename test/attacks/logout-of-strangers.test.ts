/**
 * Attack: a stranger registers a client, or publishes a document, whose address for back-channel logouts is inside the
 * network of the provider, or a program on its machine. Each sign-out would send a request there. The operator may configure
 * such addresses for own clients, also with `allowPrivateAddresses`; what clients say about themselves is always public.
 */
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { backChannelLogout } from '@grantry/plugins/back-channel-logout'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { registration } from '@grantry/plugins/registration'
import { describe, expect, test } from 'vitest'
import { hostSignIn } from '../authorization/parties.ts'
import { metadata, setUp } from '../registration/parties.ts'

const setting = (allowPrivateAddresses: boolean) =>
  setUp(
    {},
    {
      plugins: [
        authorizationCode(),
        proofKey(),
        refreshToken(),
        authorizationEndpoint({ interaction: hostSignIn, features: [backChannelLogout({ allowPrivateAddresses })] }),
        registration({ scopes: ['openid'], open: true }),
      ],
    },
  )

describe.each([false, true])('with allowPrivateAddresses: %s, a client that registers cannot name', (isAllowed) => {
  test.each([
    'http://127.0.0.1:6379/',
    'http://localhost/out',
    'http://[::1]/out',
    'https://127.0.0.1/out',
    'https://localhost/out',
    'https://10.0.0.1/out',
    'https://169.254.169.254/latest',
    'https://router.local/out',
    'http://app.example.com/out',
    'file:///etc/passwd',
  ])('%s', async (backchannel_logout_uri) => {
    const f = await setting(isAllowed)
    const { status, body } = await f.register({ ...metadata, backchannel_logout_uri })
    expect([status, body.backchannel_logout_uri]).toEqual([201, undefined])
  })
})

test('with allowPrivateAddresses, a client that registers can name no address: its name could lead inside', async () => {
  const f = await setting(true)
  const { body } = await f.register({ ...metadata, backchannel_logout_uri: 'https://app.example.com/out' })
  expect(body.backchannel_logout_uri).toBeUndefined()
})
