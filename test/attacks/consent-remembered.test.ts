/**
 * Attack: what a user has consented to is remembered for more than it was given: for the time after a revocation, because it
 * arrived in between, for another host to which a client that has described itself returns later, or for another application
 * that gets the id of a client that was removed.
 *
 * RFC 6749 section 10.2; decisions 22 and 150.
 */
import { openAdministration } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'
import { createConsents } from '../../plugins/authorization-endpoint/consents.ts'
import type { CheckedRequest } from '../../plugins/authorization-endpoint/request.ts'
import { kitOf, kitPlugin } from '../support/kit-of.ts'

const consents = createConsents(1000)
const plugin = 'consents'
const setUp = async () => {
  const { provider } = await createTestProvider({ plugins: [kitPlugin(plugin)] })
  return { provider, kit: kitOf(provider, plugin) }
}

const requestTo = (redirectUri: string, scopes: readonly string[]) =>
  ({
    client: { clientId: 'described', public: true, selfDescribed: 'remember' },
    redirectUri,
    scopes,
    prompts: new Set(),
    claims: { userinfo: [], identityToken: [] },
    proposal: { reach: [] },
  }) as unknown as CheckedRequest

test('a consent that arrives after the user was revoked is not remembered', async () => {
  const { provider, kit } = await setUp()
  const request = requestTo('https://known.example/cb', ['openid'])
  await provider.revoke({ subject: 'alice' })
  await consents.remember(kit, 'alice', request, ['openid'], {})
  expect(await consents.suffice(kit, 'alice', request)).toBe(false)
  await consents.remember(kit, 'alice', request, ['openid'], { subject: await kit.epochOf('alice') })
  expect(await consents.suffice(kit, 'alice', request)).toBe(true)
})

test('a client that is added again under the id of a removed one has no consents', async () => {
  const { provider, kit } = await setUp()
  const request = requestTo('https://known.example/cb', ['openid'])
  const consent = async () => {
    await consents.remember(kit, 'alice', request, ['openid'], await kit.epochsOf('alice', 'described'))
    return consents.suffice(kit, 'alice', request)
  }
  expect(await consent()).toBe(true)
  const { clients } = openAdministration({
    entries: openEntries({ issuer: provider.issuer, storage: memoryDriver() }),
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword: async () => '',
    revoke: provider.revoke,
  }).as({ who: 'admin' })
  const client = { clientId: 'described', public: true }
  // Also the first one in the storage: it could have been in the configuration before.
  await clients.add(client)
  expect(await consents.suffice(kit, 'alice', request)).toBe(false)
  expect([await consent(), await consents.list(kit, 'alice')]).toEqual([true, [expect.anything()]])
  await clients.edit('described', { clientName: 'Shop' })
  expect(await consents.suffice(kit, 'alice', request)).toBe(true)
  await clients.remove('described')
  await clients.add(client)
  expect([await consents.suffice(kit, 'alice', request), await consents.list(kit, 'alice')]).toEqual([false, []])
  // What was authorized before arrives late.
  await consents.remember(kit, 'alice', request, ['openid'], {})
  expect(await consents.suffice(kit, 'alice', request)).toBe(false)
  expect(await consent()).toBe(true)
})

test('a consent for one host gives no scope to another host', async () => {
  const { kit } = await setUp()
  const [known, evil] = ['https://known.example/cb', 'https://evil.example/cb']
  await consents.remember(kit, 'alice', requestTo(known, ['openid', 'api1']), ['openid', 'api1'], {})
  expect(await consents.suffice(kit, 'alice', requestTo(known, ['api1']))).toBe(true)
  await consents.remember(kit, 'alice', requestTo(evil, ['openid']), ['openid'], {})
  expect(await consents.suffice(kit, 'alice', requestTo(evil, ['openid']))).toBe(true)
  expect(await consents.suffice(kit, 'alice', requestTo(evil, ['api1']))).toBe(false)
})
