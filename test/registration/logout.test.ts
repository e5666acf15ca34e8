import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { endSession } from '@grantry/plugins/end-session'
import { proofKey } from '@grantry/plugins/proof-key'
import { registration, registrations } from '@grantry/plugins/registration'
import { expect, test } from 'vitest'
import { hostSignIn } from '../authorization/parties.ts'
import { issuer, metadata, setUp } from './parties.ts'

const pages = createPages()
const plugins = [
  authorizationCode(),
  proofKey(),
  authorizationEndpoint({ interaction: hostSignIn, pages, features: [endSession({ pages })] }),
  registration({ scopes: ['openid'], open: true }),
]

test('a user can sign out of a client that has ended', async () => {
  const f = await setUp({}, { plugins })
  const client = await f.registered({ ...metadata, scope: 'openid' })
  const { body } = await f.signIn(client, { scope: 'openid' })
  await f.provider.use(registrations).remove(client.client_id)
  const logout = (query: Record<string, string>) =>
    f.provider.fetch(new Request(`${issuer}/connect/endsession?${new URLSearchParams(query)}`))
  const page = await logout({ id_token_hint: body.id_token })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('id="signed-out"')])
  // It gets no user back.
  expect((await logout({ client_id: client.client_id })).status).toBe(400)
})
