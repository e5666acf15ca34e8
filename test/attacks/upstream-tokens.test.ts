/**
 * Attack: an attacker who can write to the storage wants the tokens that a victim has at another provider. They move the
 * sealed record of the victim to their own user, of which a function of the host reads it, or to another provider, which
 * would receive the refresh token.
 *
 * RFC 9700 section 4.13 (tokens in the storage); decision 161.
 */

import { upstreamTokens } from '@grantry/plugins/upstream'
import { expect, test } from 'vitest'
import { acmeOf } from '../upstream/parties.ts'
import { contentOf, setUpTokens } from '../upstream/token-parties.ts'

const issuer = 'https://login.acme.example.com'
const acme = { ...acmeOf({ issuer, clientId: 'grantry' }), keepTokens: true }

/** The keys of the records that `act` adds. */
async function keysAddedBy(f: Awaited<ReturnType<typeof setUpTokens>>, act: () => Promise<unknown>) {
  const before = await contentOf(f.storage)
  await act()
  return [...(await contentOf(f.storage)).keys()].filter((key) => !before.has(key))
}

const sealedIn = async (f: Awaited<ReturnType<typeof setUpTokens>>) =>
  [...(await contentOf(f.storage))].filter(([, value]) => value.includes('sealed')).map(([key]) => key)

test('18.17 a record of another user is not opened', async () => {
  const f = await setUpTokens()
  const [ofVictim = ''] = await sealedIn(f)
  f.double.set({ claims: { sub: 'attacker' } })
  let attacker = ''
  const added = await keysAddedBy(f, async () => {
    const { claims } = await f.claimsAfter()
    attacker = String(claims?.sub)
  })
  const [ofAttacker = ''] = (await sealedIn(f)).filter((key) => added.includes(key))
  expect(await f.find(attacker)).toMatchObject({ accessToken: expect.any(String) })
  await f.storage.setItem(ofAttacker, (await f.storage.getItem(ofVictim)) ?? '')
  expect(await f.find(attacker)).toBeUndefined()
  expect(await f.find()).toBeDefined()
})

test('18.17 a record of another provider is not opened, and its refresh token not sent there', async () => {
  const evil = { ...acme, name: 'evil', displayName: 'Evil', clientId: 'evil' }
  const f = await setUpTokens({ options: { providers: [acme, evil] } })
  const [ofAcme = ''] = await sealedIn(f)
  const tokens = f.provider.use(upstreamTokens)
  const stored = await f.storage.getItem(ofAcme)
  f.double.set({ claims: { aud: 'evil' } })
  // What the attacker has at the other provider shows the place of such a record.
  const added = await keysAddedBy(f, () => f.claimsAfter({ acr_values: 'idp:evil' }))
  const places = (await sealedIn(f)).filter((key) => added.includes(key))
  expect(places).toHaveLength(1)
  for (const key of places) await f.storage.setItem(key, stored ?? '')
  f.skip(301)
  expect(await tokens.find(f.sub, 'evil')).toBeUndefined()
  expect(f.double.requests.filter(({ body }) => body?.includes('upstream-refresh-token'))).toEqual([])
})

test('18.17 a record that was changed is not opened', async () => {
  const f = await setUpTokens()
  const [key = ''] = await sealedIn(f)
  const stored = (await f.storage.getItem(key)) ?? ''
  const text = typeof stored === 'string' ? stored : JSON.stringify(stored)
  const at = text.indexOf('sealed') + 60
  const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
  await f.storage.setItem(key, typeof stored === 'string' ? changed : JSON.parse(changed))
  expect(await f.find()).toBeUndefined()
})
