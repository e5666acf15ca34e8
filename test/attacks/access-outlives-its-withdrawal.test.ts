/**
 * Attack: an application asks silently all the time. When its user withdraws its access, a request that was decided by the consent
 * of before still gets a code, and its refresh token lives on; or so many later authorizations have pushed an early one off the
 * list that the withdrawal does not find it.
 *
 * docs/decisions/0156-a-list-of-authorizations.md: a withdrawal begins an epoch of what the user lets the client have, and
 * whatever was decided or issued before carries another one.
 */
import type { AtomicDriver } from '@grantry/core'
import { userAuthorizations, userConsents } from '@grantry/plugins/authorization-endpoint'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { accountUri, type Browser, issuer, linksTo, setUpAccount } from '../account/parties.ts'
import { answer } from '../authorization/browser.ts'
import { challenge, redirectUri, request, verifier, web } from '../authorization/parties.ts'
import { interruptible } from '../support/interrupted.ts'
import { inOneTrip, inOrder } from '../support/latency.ts'

const scope = 'openid api1 offline_access'
const silent = `${issuer}/connect/authorize?${new URLSearchParams({
  ...{ ...request, scope, prompt: 'none' },
  ...{ code_challenge: challenge, code_challenge_method: 'S256' },
})}`

type SetUp = Awaited<ReturnType<typeof setUpAccount>>

const redeem = (f: SetUp, code: unknown) =>
  f.post(
    'token',
    { grant_type: 'authorization_code', code: String(code), redirect_uri: redirectUri, code_verifier: verifier },
    web,
  )
const refresh = (f: SetUp, token: unknown) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: String(token) }, web)

async function withdraw(f: SetUp, browser: Browser): Promise<void> {
  const [link = ''] = linksTo(await browser.open(accountUri), 'applications/')
  const { html } = await f.send(browser, await browser.open(link))
  expect(html).toContain('The access is removed')
}

/** Requests that are in flight. Each returns the refresh token that the application has got, if it has got one. */
const requests: Readonly<
  Record<
    string,
    (f: SetUp, browser: Browser, held: { readonly code: unknown; readonly token: unknown }) => Promise<unknown>
  >
> = {
  'a silent request': async (f, browser) => {
    const response = answer(await browser.open(silent))
    return 'code' in response ? (await redeem(f, response.code)).body.refresh_token : undefined
  },
  'a redemption': async (f, _browser, { code }) => (await redeem(f, code)).body.refresh_token,
  'a refresh': async (f, _browser, { token }) => (await refresh(f, token)).body.refresh_token,
}

const drivers: Readonly<Record<string, (driver: AtomicDriver) => AtomicDriver>> = {
  'that reads one by one': inOrder,
  'that reads in one trip': (driver) => inOneTrip(inOrder(driver)),
}

describe.each(Object.keys(drivers))('on a storage %s', (name) => {
  test.each(Object.keys(requests))(
    '%s gets nothing from before, whenever the user withdraws the access',
    async (kind) => {
      const { storage, during } = interruptible((drivers[name] ?? inOrder)(mapDriver()))
      const f = await setUpAccount({ provider: { storage } })
      const { browser } = await f.signedIn()
      let tried = 0
      for (let calls = 0; ; calls += 1) {
        const { body } = await f.authorize(browser, scope)
        const { code } = answer(await browser.open(silent))
        const interrupted = await during(
          calls,
          () => withdraw(f, browser),
          async () => ({ got: await requests[kind]?.(f, browser, { code, token: body.refresh_token }) }),
        )
        if (interrupted === undefined) break
        tried += 1
        for (const token of [interrupted.got, body.refresh_token])
          expect([calls, (await refresh(f, token)).status]).toEqual([calls, 400])
        expect([calls, (await redeem(f, code)).status]).toEqual([calls, 400])
        expect(await f.provider.use(userAuthorizations).list('sub of alice')).toEqual([])
        expect(await f.provider.use(userConsents).list('sub of alice')).toEqual([])
        expect(answer(await browser.open(silent))).toMatchObject({ error: 'consent_required' })
        f.clock.advance(2)
      }
      // Otherwise, nothing was interrupted.
      expect(tried).toBeGreaterThan(2)
    },
  )
})

test('an authorization that later ones have pushed off the list ends, too', async () => {
  const f = await setUpAccount()
  const { browser } = await f.signedIn()
  const { body } = await f.authorize(browser, scope)
  f.clock.advance(2)
  for (let count = 0; count < 100; count += 1) expect(answer(await browser.open(silent))).toHaveProperty('code')
  await withdraw(f, browser)
  expect((await refresh(f, body.refresh_token)).status).toBe(400)
})

test('a withdrawal that fails takes nothing off the page, so that the user can repeat it', async () => {
  const driver = mapDriver()
  let isDown = false
  const storage: AtomicDriver = {
    ...driver,
    replaceItem: (key, change) => (isDown ? Promise.reject(new Error('down')) : driver.replaceItem(key, change)),
    insertItem: (key, ...more) => {
      if (isDown && key.startsWith('epoch:')) throw new Error('down')
      return driver.insertItem(key, ...more)
    },
  }
  const f = await setUpAccount({ provider: { storage } })
  const { browser } = await f.signedIn()
  const { body } = await f.authorize(browser, scope)
  const [link = ''] = linksTo(await browser.open(accountUri), 'applications/')
  const confirmation = await browser.open(link)
  isDown = true
  expect((await f.send(browser, confirmation)).html).not.toContain('The access is removed')
  isDown = false
  await withdraw(f, browser)
  expect((await refresh(f, body.refresh_token)).status).toBe(400)
})
