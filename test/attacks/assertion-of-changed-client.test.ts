/**
 * Attack: a thief has the secret of a client that may exchange identity tokens for assertions, and an identity token of a
 * user. An administrator rotates the secret in one process, while another one remembers the client.
 *
 * draft-ietf-oauth-identity-assertion-authz-grant; docs/decisions/0022-revocation-by-epochs.md.
 */
import { openAdministration, storedEntries } from '@grantry/administration'
import { hashSecret, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { atIdp, client, exchange, identityProvider, idp } from '../id-jag/jag-parties.ts'

test('a rotated secret gives no assertion in another process', async () => {
  const storage = memoryDriver()
  const entries = openEntries({ issuer: idp, storage })
  const process = () =>
    identityProvider({}, { storage, clients: [], plugins: storedEntries({ entries, cacheFor: 3600 }) })
  const [remembering, administrating] = [await process(), await process()]
  const accepted = async (): Promise<void> => {}
  const { clients } = openAdministration({
    entries,
    check: { client: accepted, scope: accepted, user: accepted },
    hashPassword: async () => '',
    revoke: administrating.provider.revoke,
    renewClient: administrating.provider.renewClient,
  }).as({ who: 'admin' })
  const scopes = ['openid', 'offline_access']
  const added = client(atIdp, ['authorization_code', 'refresh_token', exchange], scopes)
  await clients.add({ ...added, secrets: [hashSecret(atIdp[1])] })
  const { id_token: token } = await remembering.signIn()
  expect((await remembering.request(String(token))).status).toBe(200)
  await clients.rotateSecret(atIdp[0], 0)
  expect((await remembering.request(String(token))).status).toBe(401)
})
