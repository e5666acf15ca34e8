/**
 * Attack: strangers in ten networks begin as many sign-ins as all callers together can, and no user can begin one.
 *
 * Decision 106.
 */
import { type EndpointKit, OAuthError } from '@grantry/core'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { expect, test } from 'vitest'
import { placesOfAllSites, placesOfSite, rememberSite, storeWaiting } from '../../plugins/shared/known-sites.ts'
import { createBrowser } from '../authorization/browser.ts'
import { challenge, request } from '../authorization/parties.ts'
import { createBrowser as createDeviceBrowser, setUpPage } from '../device-authorization/browser.ts'
import { setUpAccounts } from '../self-service/parties.ts'
import { accountAs, setUpUpstream } from '../upstream/parties.ts'

const home = '203.0.113.1'
const native = {
  ...request,
  client_id: 'spa',
  redirect_uri: 'com.example.app:/callback',
  code_challenge: challenge,
  code_challenge_method: 'S256',
}

/** Alice has signed in at home. Then strangers use up what there is for all callers. */
async function flooded() {
  const f = await setUpAccounts(
    {},
    {
      endpoint: { features: [pushedAuthorization()] },
      provider: { abuseControl: { waitingRequests: { total: 20, perAddress: 2 } } },
    },
  )
  const { page, submit } = await f.start({}, createBrowser(f.provider, home))
  await submit(page, { username: 'alice', password: 'alice-password' })
  const begin = async (from: string) => (await createBrowser(f.provider, from).open(f.urlOf(request))).status
  const push = async (clientAddress: string): Promise<number> => {
    const body = new URLSearchParams(native)
    const pushed = new Request('https://id.example.com/connect/par', { method: 'POST', body })
    return (await f.provider.fetch(pushed, { clientAddress })).status
  }
  for (let host = 0; host < 10; host += 1) {
    await begin(`198.51.100.${host}`)
    await begin(`198.51.100.${host}`)
  }
  return { ...f, begin, push }
}

test('strangers keep no user from signing in, nor a public client from pushing, at a site where a user has signed in', async () => {
  const { begin, push, start, provider, clock, events } = await flooded()
  expect([await begin('198.51.100.99'), await push('198.51.100.99')]).toEqual([503, 503])
  expect([await begin(home), await push(home)]).toEqual([200, 201])
  const { page, submit } = await start({}, createBrowser(provider, home))
  await submit(page, { username: 'alice', password: 'alice-password' })
  expect(events.filter(({ type }) => type === 'session_started')).toHaveLength(2)
  // The places of one site have an end, too.
  for (let place = 3; place < placesOfSite; place += 1) expect(await begin(home)).toBe(200)
  expect(await begin(home)).toBe(503)
  clock.advance(600)
  expect(await begin(home)).toBe(200)
})

test('strangers keep no user from a sign-in at another provider, nor from a link to one, at such a site', async () => {
  const waitingRequests = { total: 20, perAddress: 10 }
  const f = await setUpUpstream({ more: { abuseControl: { waitingRequests } } })
  const at = (from: string) => createBrowser(f.provider, from)
  const alice = await accountAs(f, 'alice')
  for (let host = 0; host < 20; host += 1) await at(`198.51.100.${host}`).open(f.urlOf(request))
  expect((await at('198.51.100.99').open(f.urlOf(request))).status).toBe(503)
  expect((await alice.leave()).url.href).toContain(f.double.issuer)
  const { request: left } = await f.leave({}, f.browser())
  expect(left.href).toContain(f.double.issuer)
})

test('strangers keep no device from beginning at a site where a user has approved one', async () => {
  const f = await setUpPage({}, { abuseControl: { waitingRequests: { total: 11, perAddress: 10 } } })
  const begin = async (clientAddress: string) => {
    const body = new URLSearchParams({ client_id: 'lamp', scope: 'api1' })
    const asked = new Request(`${f.provider.issuer}/connect/deviceauthorization`, { method: 'POST', body })
    const response = await f.provider.fetch(asked, { clientAddress })
    return { status: response.status, ...((await response.json()) as { readonly user_code?: string }) }
  }
  const user = createDeviceBrowser(f.provider, 'alice', home)
  const { user_code = '' } = await begin(home)
  const { token } = await user.open({ user_code })
  await user.submit({ form_token: token, decision: 'approve' })
  for (let host = 0; host < 10; host += 1) expect((await begin(`198.51.100.${host}`)).status).toBe(200)
  expect([(await begin('198.51.100.99')).status, (await begin(home)).status]).toEqual([503, 200])
})

test('a large request has no place beside those of everyone', async () => {
  const { start, provider, urlOf } = await flooded()
  const open = (state: string) => createBrowser(provider, home).open(urlOf({ ...request, state }))
  expect([(await open('s'.repeat(4096))).status, (await open('s'.repeat(2000))).status]).toEqual([503, 200])
  expect((await start({}, createBrowser(provider, home))).page.status).toBe(200)
})

/** A kit whose limit of all callers is used up. */
function refusingKit() {
  const stored = new Map<string, number>()
  let reason = 'too_many_waiting_requests'
  const kit = {
    now: () => 1_800_000_000,
    records: {
      get: async (key: string) => stored.has(key) || undefined,
      put: async (key: string) => void stored.set(key, 1),
      async increment(key: string) {
        const value = (stored.get(key) ?? 0) + 1
        stored.set(key, value)
        return value
      },
    },
    async limitWaiting() {
      throw new OAuthError('temporarily_unavailable', 'Try again later', { reason })
    },
  } as unknown as EndpointKit
  const waiting = { value: '', store: async () => true, remove: async () => {} }
  const isStored = (clientAddress: string | undefined) =>
    storeWaiting(kit, { clientAddress }, waiting).catch(() => false)
  return {
    kit,
    isStored,
    fail(newReason: string): void {
      reason = newReason
    },
  }
}

test('the places of all sites with users have a limit', async () => {
  const { kit, isStored } = refusingKit()
  let stored = 0
  for (let site = 0; site < placesOfAllSites / placesOfSite + 2; site += 1) {
    const address = `198.51.${site >> 8}.${site & 255}`
    await rememberSite(address, kit)
    for (let place = 0; place < placesOfSite + 1; place += 1) if (await isStored(address)) stored += 1
  }
  expect(stored).toBe(placesOfAllSites)
})

test('a site gets a place only when the limit of all callers refuses it, and a request without an address gets none', async () => {
  const { kit, isStored, fail } = refusingKit()
  await rememberSite(home, kit)
  await rememberSite(undefined, kit)
  expect([await isStored(home), await isStored(undefined), await isStored('198.51.100.1')]).toEqual([
    true,
    false,
    false,
  ])
  fail('storage_unavailable')
  expect(await isStored(home)).toBe(false)
})
